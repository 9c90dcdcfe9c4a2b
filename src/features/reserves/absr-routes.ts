import { createRoute, z } from '@hono/zod-openapi';
import { BTC_DECIMALS, grouped, toNumber } from '../../core/amount.ts';
import type { Coverage } from '../../core/coverage.ts';
import { USD_DECIMALS, valueUsd } from '../../core/price.ts';
import { CoverageBody } from '../../http/coverage.ts';
import { csvList, decodeCursor, pageOf, pageParams, wantsCsv } from '../../http/paging.ts';
import { limitReads } from '../../http/rate-limit.ts';
import { errorResponses, jsonResponse, listResponse, nextCursor } from '../../http/responses.ts';
import { component, newRouter } from '../../http/router.ts';
import { getSummary, readCoverage, type SummaryDeps } from './get-summary.ts';
import { type AbsrStore, type AbsrTransaction, absrKey } from './reserves-store.ts';

export type AbsrDeps = SummaryDeps & { readonly absr: Pick<AbsrStore, 'newest'> };

const number = (description: string) => z.number().nullable().openapi({ description });
const text = (description: string) => z.string().nullable().openapi({ description });

const summaryRoute = createRoute({
  method: 'get',
  path: '/arbitrage/summary',
  operationId: 'getAbsrSummary',
  tags: ['absr'],
  summary: 'ABSR summary',
  description: 'Reserve sats, ABSR supply and prices.',
  responses: {
    200: jsonResponse(
      component('AbsrSummary', {
        absrMint: text('The ABSR mint; null without one'),
        asryMint: text('The ASRY mint; null without one'),
        btcPriceUsd: number('USD for 1 BTC'),
        solPriceUsd: number('USD for 1 SOL'),
        priceSource: text('Venue of the price shown'),
        priceVenues: z
          .array(
            z.object({
              name: z.string(),
              btcPriceUsd: z.number(),
              solPriceUsd: z.number(),
              agreed: z.boolean().nullable().describe('Whether another venue confirms this price within 1 %'),
            }),
          )
          .describe('Latest price of each venue'),
        absrSupplySats: number('Confirmed sats of the reserve, which are the maximum supply'),
        absrSupplySatoshis: text('The same as a string'),
        absrSupplyUsd: number('The same in USD'),
        absrTokenSupply: number('ABSR on the chain, finalized; null without a mint'),
        absrTokenSupplyAtoms: text("The same in the token's smallest units"),
        absrDecimals: z.int().nullable(),
        ratio: number('Sats in the reserve per ABSR, rounded down; null without a token'),
        gapSats: number('Sats in excess of the supply; negative when tokens are not covered'),
        gapSatoshis: text('The same as a string'),
        coverage: CoverageBody,
        price_as_of: z.iso.datetime().nullable().describe('When the price was read'),
        as_of: z.iso.datetime().nullable().describe('When the oldest part was read'),
        stale: z.boolean().describe('True when a source is unavailable and an older part is shown'),
        errors: z
          .array(z.object({ part: z.enum(['prices', 'reserve', 'supply']), error_code: z.string() }))
          .optional(),
      }),
      'A part that cannot be read is null and named in errors',
    ),
    ...errorResponses(['UPSTREAM_FAILED'], { UPSTREAM_FAILED: 503 }),
  },
});

const Transaction = z.object({
  signature: z.string().describe('Solana signature'),
  txId: text('Bitcoin txid of the sats that a swap delivered (an issue); null for a mint'),
  type: z.enum(['mint', 'issue']),
  amountSats: z.int(),
  amountUsd: number('Value at the price when it was signed; null when no price was known'),
  blockTime: z.int().nullable().describe('Unix seconds'),
  amountSatoshis: z.string(),
});

const transactionsRoute = createRoute({
  method: 'get',
  path: '/arbitrage/transactions',
  operationId: 'listAbsrTransactions',
  tags: ['absr'],
  summary: 'List ABSR transactions',
  description: 'Mints of ABSR and swaps that delivered sats, newest first; also as CSV.',
  middleware: [limitReads] as const,
  request: { query: z.object(pageParams()) },
  responses: {
    200: listResponse(
      component('AbsrTransactions', { transactions: z.array(Transaction), next_cursor: nextCursor }),
      'Mints and issues',
    ),
    ...errorResponses(['INVALID_INPUT', 'RATE_LIMITED', 'DATABASE_UNAVAILABLE']),
  },
});

const badgeRoute = createRoute({
  method: 'get',
  path: '/badge/reserve.svg',
  operationId: 'getReserveBadge',
  tags: ['reserves'],
  summary: 'Reserve badge',
  description: 'A picture to embed: green when sats cover the supply, red when not, gray when unknown.',
  responses: {
    200: { description: 'A picture', content: { 'image/svg+xml': { schema: z.string() } } },
  },
});

const LIST = 'absr';
const ListKey = z.tuple([z.int(), z.int()]);

function pageOfTransactions(read: readonly AbsrTransaction[], limit: number) {
  const { rows, next } = pageOf(LIST, read, limit, absrKey);
  const transactions = rows.map((row) => {
    const usd = row.btcUsd === null ? null : valueUsd(row.amountSats, BTC_DECIMALS, row.btcUsd);
    return {
      signature: row.signature,
      txId: row.txId,
      type: row.type,
      amountSats: Number(row.amountSats),
      amountUsd: usd === null ? null : toNumber(usd, USD_DECIMALS),
      blockTime: row.blockTime,
      amountSatoshis: row.amountSats.toString(),
    };
  });
  return { transactions, next_cursor: next };
}

export const absrRoutes = newRouter<{ readonly reserves: AbsrDeps }>()
  .openapi(badgeRoute, async (c) => {
    // A page that embeds the badge would show an error as a broken image, so a failed read returns the unknown state.
    return c.body(badgeSvg(await readCoverage(c.var.deps.reserves)), 200, {
      'Content-Type': 'image/svg+xml',
    });
  })
  .openapi(summaryRoute, async (c) => {
    return c.json(await getSummary(c.var.deps.reserves), 200);
  })
  .openapi(transactionsRoute, async (c) => {
    const { limit, cursor } = c.req.valid('query');
    const after = decodeCursor(LIST, ListKey, cursor) ?? undefined;
    const read = await c.var.deps.reserves.absr.newest(limit + 1, after);
    const page = pageOfTransactions(read, limit);
    if (!wantsCsv(c)) return c.json(page, 200);
    return csvList(c, 'absr', Transaction, page.transactions, page.next_cursor);
  });

const LABEL = 'reserve';
const COLORS = { covered: '#0b6b50', short: '#b3261e', unknown: '#5f6368', no_token: '#5f6368' } as const;
/** Pixels per character in Verdana of 11 px; `textLength` fits the text to its box. */
const CHARACTER = 6.6;
const PADDING = 6;
const HEIGHT = 20;

export function badgeText(coverage: Coverage): { readonly text: string; readonly color: string } {
  const { state, reserveSatoshis: sats, supplySatoshis: supply, as_of: at, stale } = coverage;
  const age = stale && at !== null ? ` (as of ${at.slice(0, 16).replace('T', ' ')} UTC)` : '';
  const color = COLORS[state];
  if (sats === null) return { text: 'unknown', color };
  if (supply === null) return { text: `${grouped(sats)} sats${age}`, color };
  const sign = state === 'short' ? '<' : '≥';
  return { text: `${grouped(sats)} sats ${sign} ${grouped(supply)} ABSR${age}`, color };
}

/** An SVG without scripts, styles or references, so that every image host accepts it. */
export function badgeSvg(coverage: Coverage): string {
  const { text, color } = badgeText(coverage);
  const shown = text.replaceAll('<', '&lt;');
  const widths = [LABEL, text].map((part) => Math.round(part.length * CHARACTER)) as [number, number];
  const [label, value] = widths.map((width) => width + 2 * PADDING) as [number, number];
  const title = `${LABEL}: ${shown}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${label + value}" height="${HEIGHT}" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${label + value}" height="${HEIGHT}" rx="3" fill="${color}"/>
<path d="M3 0h${label - 3}v${HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3c4043"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="${PADDING}" y="14" textLength="${widths[0]}">${LABEL}</text>
<text x="${label + PADDING}" y="14" textLength="${widths[1]}">${shown}</text>
</g>
</svg>
`;
}
