/**
 * Search over listed tokens, best matches first: exact symbol, symbol prefix, name prefix, mint, creator,
 * then any substring. Each step is one bounded index read. A row belongs to the first step that finds it, so
 * the cursor shows each row once even while others are being listed.
 * @module
 */
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { foldText } from '../../chain/solana/token-text.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { type TokenRow, tokenRow } from './token-store.ts';

/** End of a page: the step, and the sort key of its last row. */
export type SearchCursor = { readonly step: number; readonly text: string; readonly tokenId: number };

export type SearchPage = { readonly tokens: TokenRow[]; readonly next: SearchCursor | null };

type Row = { journal: string; token_id: number; sort: string };

/**
 * Every step takes the same parameters: ?1 ?2 bounds of the folded prefix, ?3 ?4 bounds of the prefix in its
 * original case (addresses keep theirs), ?5 ?6 sort key to continue after, ?7 limit, ?8 expression for the
 * text index. A row value is the lower bound of a prefix: with an OR the planner would read the whole index.
 */
const SYMBOL = 't.symbol >= ?1 AND t.symbol < ?2';
const NAME = 't.name >= ?1 AND t.name < ?2';
const MINT = 't.mint_address >= ?3 AND t.mint_address < ?4';
const CREATOR = 't.creator_address >= ?3 AND t.creator_address < ?4';

const prefixStep = (column: string, end: string, earlier: string): string =>
  `SELECT t.journal, t.token_id, ${column} AS sort FROM tokens t
   WHERE t.listed_at IS NOT NULL AND (${column}, t.token_id) > (?5, ?6) AND ${column} < ${end} ${earlier}
   ORDER BY ${column}, t.token_id LIMIT ?7`;

const STEPS = [
  `SELECT t.journal, t.token_id, t.symbol AS sort FROM tokens t
   WHERE t.listed_at IS NOT NULL AND t.symbol = ?1 AND t.token_id > ?6 ORDER BY t.token_id LIMIT ?7`,
  prefixStep('t.symbol', '?2', ''),
  prefixStep('t.name', '?2', `AND NOT (${SYMBOL})`),
  prefixStep('t.mint_address', '?4', `AND NOT (${SYMBOL}) AND NOT (${NAME})`),
  prefixStep('t.creator_address', '?4', `AND NOT (${SYMBOL}) AND NOT (${NAME}) AND NOT (${MINT})`),
  // Newest first: the text index offers no better order at a low cost.
  `SELECT t.journal, t.token_id, '' AS sort FROM tokens_text f JOIN tokens t ON t.token_id = f.rowid
   WHERE tokens_text MATCH ?8 AND f.rowid < ?6 AND NOT (${SYMBOL}) AND NOT (${NAME}) AND NOT (${MINT})
   AND NOT COALESCE(${CREATOR}, 0) ORDER BY f.rowid DESC LIMIT ?7`,
] as const;

const SUBSTRING = STEPS.length - 1;

/**
 * The last step for one or two letters, which the trigram index cannot find. Its MATCH expression leaves out names
 * that begin with them.
 */
const SHORT_SUBSTRING = `SELECT t.journal, t.token_id, '' AS sort FROM tokens_short f JOIN tokens t ON t.token_id = f.rowid
   WHERE tokens_short MATCH ?8 AND f.rowid < ?6 AND NOT (${MINT}) AND NOT COALESCE(${CREATOR}, 0)
   ORDER BY f.rowid DESC LIMIT ?7`;

const SHORT_STEPS = [...STEPS.slice(0, SUBSTRING), SHORT_SUBSTRING];

/** Shortest text in the trigram index. */
const TRIGRAM = 3;
/** Above every text that starts with a prefix: no character sorts higher. */
const END = '\u{10FFFF}';

/**
 * From each of these steps on, a step skips the rows of earlier steps one by one, so those rows must be few. If they
 * fill a page, the step returns nothing, and another round trip reads the rest of the page.
 */
const BOUNDARIES = [2, SUBSTRING] as const;

/** Rows of the prefix steps before a boundary, at most a page of each. */
const earlierRows = (boundary: number): string =>
  `(SELECT count(*) FROM (${(boundary === SUBSTRING ? [SYMBOL, NAME, MINT, CREATOR] : [SYMBOL])
    .map(
      (rows) =>
        `SELECT * FROM (SELECT t.token_id FROM tokens t WHERE t.listed_at IS NOT NULL AND ${rows} LIMIT ?7)`,
    )
    .join(' UNION ')}))`;

const COUNTS = `SELECT ${BOUNDARIES.map((boundary) => `${earlierRows(boundary)} AS before_${boundary}`).join(', ')}`;

/** The step, with a limit of 0 unless the earlier rows are few. SQLite would test a WHERE condition for each row. */
function guarded(sql: string, step: number): string {
  const boundary = BOUNDARIES.findLast((start) => step >= start);
  return boundary === undefined ? sql : sql.replace(/\?7$/, `?7 * (${earlierRows(boundary)} < ?7)`);
}

type Query = { readonly folded: string; readonly exact: string };

/** The cursor before the first row of a step. */
function startOf(step: number, { folded, exact }: Query): SearchCursor {
  switch (step) {
    case 1:
      // The step continues after the exact matches, which the previous step has shown.
      return { step, text: folded, tokenId: Number.MAX_SAFE_INTEGER };
    case SUBSTRING:
      return { step, text: '', tokenId: Number.MAX_SAFE_INTEGER };
    default:
      return { step, text: step <= 2 ? folded : exact, tokenId: -1 };
  }
}

/** A phrase that the index treats literally, including any operators. */
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Matches a text anywhere except at the beginning: those rows belong to the prefix steps. Letters are in hex. */
function shortExpression(text: string): string {
  const hex = bytesToHex(utf8ToBytes(text)).toUpperCase();
  return `grams : "${hex}" NOT heads : "${hex}"`;
}

const isShort = (folded: string): boolean => [...folded].length < TRIGRAM;

export type SearchStore = ReturnType<typeof createSearchStore>;

export const createSearchStore = (db: D1Reads) => {
  function statement(sql: string, at: SearchCursor, { folded, exact }: Query, limit: number) {
    const bounds = [folded, folded + END, exact, exact + END];
    const expression = isShort(folded) ? shortExpression(folded) : phrase(folded);
    const params = [...bounds, at.text, at.tokenId, limit, ...(at.step === SUBSTRING ? [expression] : [])];
    return db.prepare(sql).bind(...params);
  }

  return {
    /** @param given the caller's text, trimmed, not empty */
    async search(given: string, from: SearchCursor | null, limit: number): Promise<SearchPage> {
      // No name contains a control character, and SQLite's text ends at NUL.
      const exact = given.replace(/\p{C}/gu, '');
      if (exact === '') return { tokens: [], next: null };
      const query = { folded: foldText(exact), exact };
      const steps = isShort(query.folded) ? SHORT_STEPS : STEPS;
      const tokens: TokenRow[] = [];
      let at = from ?? startOf(0, query);
      while (at.step < steps.length) {
        const later = BOUNDARIES.filter((start) => start > at.step);
        const [counts, ...found] = await db.batch<Row & Readonly<Record<string, unknown>>>([
          statement(COUNTS, startOf(0, query), query, limit),
          ...steps.slice(at.step).map((sql, index) => {
            const start = index === 0 ? at : startOf(at.step + index, query);
            const isLater = later.some((boundary) => start.step >= boundary);
            return statement(isLater ? guarded(sql, start.step) : sql, start, query, limit);
          }),
        ]);
        const isFull = (boundary: number) => Number(counts?.results[0]?.[`before_${boundary}`]) >= limit;
        const end = later.find(isFull) ?? steps.length;
        for (const [index, { results }] of found.slice(0, end - at.step).entries()) {
          const rows = results.slice(0, limit - tokens.length);
          tokens.push(...rows.map(({ journal }) => tokenRow(journal)));
          const last = rows.at(-1);
          // The page may end inside a step; the next one reads the step's rest.
          if (last && tokens.length === limit)
            return { tokens, next: { step: at.step + index, text: last.sort, tokenId: last.token_id } };
        }
        at = startOf(end, query);
      }
      return { tokens, next: null };
    },
  };
};
