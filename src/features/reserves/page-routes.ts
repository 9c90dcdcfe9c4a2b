/**
 * Serves the overview and the reserves page with their first figures in the HTML, for readers without scripts and while
 * the API is slow.
 * @module
 */
import { html } from 'hono/html';
import { formatAmount, grouped, SOL_DECIMALS } from '../../core/amount.ts';
import { type Coverage, UNKNOWN_COVERAGE } from '../../core/coverage.ts';
import { newRouter } from '../../http/router.ts';
import { instant, type SitePage, sitePage } from '../../http/site-page.ts';
import { within } from '../../http/within.ts';
import { type GetProofDeps, getProof } from './get-proof.ts';
import { getReserves } from './get-reserves.ts';
import { readSummary, type SummaryDeps, summaryOf } from './get-summary.ts';
import { shownProof } from './proof-routes.ts';
import type { ReservesRouteDeps } from './routes.ts';

export type ReservePageDeps = ReservesRouteDeps &
  GetProofDeps &
  SummaryDeps & { readonly assets: Pick<Fetcher, 'fetch'> };

/** A page does not wait longer for a figure; its script reads the figure again anyway. */
const WAIT_MS = 500;

type Reserves = Awaited<ReturnType<typeof getReserves>>;
export type Figures = {
  readonly reserves: Reserves | undefined;
  readonly summary: ReturnType<typeof summaryOf> | undefined;
  readonly proof: ReturnType<typeof shownProof> | undefined;
};

/** A figure that is late or cannot be read is absent. */
async function readFigures(d: ReservePageDeps): Promise<Figures> {
  const inTime = <T>(read: Promise<T>): Promise<T | undefined> =>
    within(
      read.catch(() => undefined),
      WAIT_MS,
    );
  const [reserves, parts, proof] = await Promise.all([
    inTime(getReserves(d)),
    inTime(readSummary(d)),
    inTime(getProof(d)),
  ]);
  return {
    reserves,
    summary: parts && summaryOf(parts),
    proof: proof && shownProof(proof),
  };
}

const readAt = (iso: string) => html`Read <time datetime="${iso}">${instant(iso)}</time>`;
const amount = (atoms: string, decimals: number, unit: string) =>
  html`${grouped(formatAmount(BigInt(atoms), decimals))}<span class="unit"> ${unit}</span>`;

function coverageLine({ state, reserveSatoshis, supplySatoshis, as_of: at }: Coverage) {
  if (state === 'no_token') return html`<strong>No ABSR exists yet, so nothing is owed.</strong>`;
  if (reserveSatoshis === null || supplySatoshis === null || at === null || state === 'unknown')
    return html`<strong>Whether every ABSR is covered is not known right now.</strong>`;
  const figures = `${grouped(reserveSatoshis)} sats for ${grouped(supplySatoshis)} ABSR.`;
  return state === 'short'
    ? html`<strong class="mark bad">Not covered: ${figures}</strong>`
    : html`<strong>Covered: ${figures}</strong>`;
}

/** HTML for the figures that the overview's template leaves empty. */
export function overviewFigures({ reserves, summary, proof }: Figures): NonNullable<SitePage['figures']> {
  const { bitcoin, solana, as_of: at = null } = reserves ?? {};
  const { absrTokenSupplyAtoms: atoms = null, absrDecimals = null } = summary ?? {};
  const sats = bitcoin?.balanceSatoshis ?? null;
  const lamports = solana?.balanceLamports ?? null;
  return {
    ...(lamports !== null && { sol: amount(lamports, SOL_DECIMALS, 'SOL') }),
    ...(sats !== null && { btc: amount(sats, 0, 'sats') }),
    ...(atoms !== null && { absr: amount(atoms, absrDecimals ?? 0, 'ABSR') }),
    coverage: coverageLine(summary?.coverage ?? UNKNOWN_COVERAGE),
    ...(at !== null && { 'as-of': readAt(at) }),
    ...(proof && {
      signed: html`Signed snapshot: ${grouped(proof.figures.reserveSatoshis)} sats at <code>${proof.bitcoin.address}</code> by both reserve keys, <time datetime="${proof.timestamp}">${instant(proof.timestamp)}</time>`,
    }),
  };
}

const wallet = (asset: string, name: string, figure: unknown, address: string | null) =>
  html`<div class="stack"><h2 class="minor"><span class="dot ${asset}" aria-hidden="true"></span>${name}</h2>
<p class="tile-value number">${figure}</p>
<dl class="facts"><dt>Address</dt><dd><code>${address ?? 'not configured'}</code></dd></dl></div>`;

/** First content of both wallets on `/reserves`. */
const wallets = ({ bitcoin, solana, as_of: at }: Reserves) =>
  html`<div class="columns first">${wallet(
    'btc',
    'Bitcoin reserve',
    bitcoin.balanceSatoshis === null ? 'unknown' : `${grouped(bitcoin.balanceSatoshis)} sats`,
    bitcoin.address,
  )}${wallet(
    'sol',
    'Solana reserve',
    solana.balanceLamports === null
      ? 'unknown'
      : `${grouped(formatAmount(BigInt(solana.balanceLamports), SOL_DECIMALS))} SOL`,
    solana.address,
  )}</div>
<p class="as-of">${at === null ? '' : readAt(at)}</p>`;

const answer = (name: string, value: unknown) => (value === undefined ? [] : [{ name, input: {}, value }]);

/** What the page's scripts show before their own first read. */
const responsesOf = ({ reserves, summary, proof }: Figures) => [
  ...answer('getReserves', reserves),
  ...answer('getAbsrSummary', summary),
  ...answer('getProof', proof),
];

async function overview(d: ReservePageDeps): Promise<SitePage> {
  const figures = await readFigures(d);
  return { figures: overviewFigures(figures), responses: responsesOf(figures) };
}

async function reservesPage(d: ReservePageDeps): Promise<SitePage> {
  const figures = await readFigures(d);
  return {
    islands: figures.reserves ? { wallets: wallets(figures.reserves) } : {},
    responses: responsesOf(figures),
  };
}

export const reservePageRoutes = newRouter<{ readonly reserves: ReservePageDeps }>()
  .get('/', async (c) => {
    const deps = c.var.deps.reserves;
    return sitePage(deps.assets, '/', overview(deps));
  })
  .get('/reserves', async (c) => {
    const deps = c.var.deps.reserves;
    return sitePage(deps.assets, '/reserves', reservesPage(deps));
  });
