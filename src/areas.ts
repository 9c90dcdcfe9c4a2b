/**
 * The areas of the API: the paths of each, and how its routes are loaded. An isolate builds an area's schemas
 * at the first request for it, so that its start does not wait for routes that it may never serve.
 * @module
 */
import type { Feature, Mount } from './mounted-app.ts';

/** Browsers may not call it, so `edge` adds no CORS headers there. */
export const OPS_PATH = '/api/ops';

type Area = {
  /** First segments of its paths after `/api/`. */
  readonly parts: readonly string[];
  /** Features whose dependencies its routes receive. */
  readonly features: readonly Feature[];
  readonly load: () => Promise<Mount>;
};

/** Takes every path that belongs to no other area. */
const DOCUMENTS: Area = {
  parts: [],
  features: ['openapi'],
  load: async () => {
    const { openApiRoutes } = await import('./features/openapi/routes.ts');
    return (app) => app.route('/', openApiRoutes);
  },
};

export const AREAS: readonly Area[] = [
  {
    parts: ['health', 'ready', 'status'],
    features: ['status'],
    load: async () => {
      const { statusRoutes } = await import('./features/status/routes.ts');
      return (app) => app.route('/api', statusRoutes);
    },
  },
  {
    parts: ['reserves', 'transactions', 'explorer'],
    features: ['reserves'],
    load: async () => {
      const { reservesRoutes } = await import('./features/reserves/routes.ts');
      return (app) => app.route('/api', reservesRoutes);
    },
  },
  {
    parts: ['proof'],
    features: ['reserves'],
    load: async () => {
      const { proofRoutes } = await import('./features/reserves/proof-routes.ts');
      return (app) => app.route('/api', proofRoutes);
    },
  },
  {
    parts: ['arbitrage', 'badge'],
    features: ['reserves'],
    load: async () => {
      const { absrRoutes } = await import('./features/reserves/absr-routes.ts');
      return (app) => app.route('/api', absrRoutes);
    },
  },
  {
    parts: ['swap', 'exchanges'],
    features: ['swap'],
    load: async () => {
      const { swapRoutes } = await import('./features/swap/routes.ts');
      return (app) => app.route('/api', swapRoutes);
    },
  },
  {
    parts: ['invoices'],
    features: ['tokens'],
    load: async () => {
      const { invoiceRoutes } = await import('./features/tokens/invoice-routes.ts');
      return (app) => app.route('/api', invoiceRoutes);
    },
  },
  {
    parts: ['tokens'],
    features: ['tokens'],
    load: async () => {
      const { tokenRoutes } = await import('./features/tokens/routes.ts');
      return (app) => app.route('/api', tokenRoutes);
    },
  },
  {
    parts: ['listings'],
    features: ['tokens'],
    load: async () => {
      const { listingRoutes } = await import('./features/tokens/listing-routes.ts');
      return (app) => app.route('/api', listingRoutes);
    },
  },
  {
    parts: ['exchange'],
    features: ['exchange'],
    load: async () => {
      const { exchangeRoutes } = await import('./features/exchange/routes.ts');
      return (app) => app.route('/api', exchangeRoutes);
    },
  },
  {
    parts: ['analytics'],
    features: ['analytics'],
    load: async () => {
      const { analyticsRoutes } = await import('./features/analytics/routes.ts');
      return (app) => app.route('/api', analyticsRoutes);
    },
  },
  {
    parts: ['asry'],
    features: ['asry'],
    load: async () => {
      const { asryRoutes } = await import('./features/asry/routes.ts');
      return (app) => app.route('/api', asryRoutes);
    },
  },
  {
    parts: ['dex'],
    features: ['pools'],
    load: async () => {
      const { poolsRoutes } = await import('./features/pools/routes.ts');
      return (app) => app.route('/api', poolsRoutes);
    },
  },
  {
    parts: ['nostr'],
    features: ['nostr'],
    load: async () => {
      const { nostrFeedRoutes } = await import('./features/nostr-feed/routes.ts');
      return (app) => app.route('/api', nostrFeedRoutes);
    },
  },
  {
    parts: ['ops'],
    features: ['ops'],
    load: async () => {
      const { opsRoutes } = await import('./features/ops/routes.ts');
      return (app) => app.route(OPS_PATH, opsRoutes);
    },
  },
  DOCUMENTS,
];

/** @param path percent-decoded, in the form that the router matches */
export function areaOf(path: string): Area {
  const part = /^\/api\/([^/]+)/.exec(path)?.[1];
  return AREAS.find(({ parts }) => part !== undefined && parts.includes(part)) ?? DOCUMENTS;
}
