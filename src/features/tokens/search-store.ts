/**
 * Search over listed tokens, best matches first: exact symbol, symbol prefix, name prefix, mint, creator,
 * then any substring. Each step is one bounded index read. A row belongs to the first step that finds it, so
 * the cursor shows each row once even while others are being listed.
 * @module
 */
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { foldText } from '../../chain/solana/token-text.ts';
import { createListStore, type ListQuery, MIRROR_VERSION } from '../../http/list-store.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { type TokenRow, tokenRow } from './token-store.ts';

/** End of a page: the step, and the sort key of its last row. */
export type SearchCursor = { readonly step: number; readonly text: string; readonly tokenId: number };

export type SearchPage = { readonly tokens: TokenRow[]; readonly next: SearchCursor | null };

type Row = { journal: string; token_id: number; sort: string };
const COLUMNS = ['journal', 'token_id', 'sort'];

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
  // Newest first: the text index offers no better inexpensive order.
  `SELECT t.journal, t.token_id, '' AS sort FROM tokens_text f JOIN tokens t ON t.token_id = f.rowid
   WHERE tokens_text MATCH ?8 AND f.rowid < ?6 AND NOT (${SYMBOL}) AND NOT (${NAME}) AND NOT (${MINT})
   AND NOT COALESCE(${CREATOR}, 0) ORDER BY f.rowid DESC LIMIT ?7`,
] as const;

const SUBSTRING = STEPS.length - 1;

/**
 * The last step for one or two letters, which the trigram index cannot find. The index leaves out names that
 * begin with them.
 */
const SHORT_SUBSTRING = `SELECT t.journal, t.token_id, '' AS sort FROM tokens_short f JOIN tokens t ON t.token_id = f.rowid
   WHERE tokens_short MATCH ?8 AND f.rowid < ?6 AND NOT (${MINT}) AND NOT COALESCE(${CREATOR}, 0)
   ORDER BY f.rowid DESC LIMIT ?7`;

/** Whether a first page has room after the rows of an earlier step. */
const hasRoom = (finds: string): string =>
  `(SELECT COUNT(*) FROM (SELECT 1 FROM tokens t WHERE t.listed_at IS NOT NULL AND ${finds} LIMIT ?7)) < ?7`;

/**
 * The steps of a first page, all in one round trip. A step whose rows would not be shown has limit 0 and does
 * not run. Otherwise a page full of name matches would also read every text with the same letters.
 */
const firstPage = (steps: readonly string[]): string[] =>
  steps.map((step, index) => {
    const bySymbol = index > 1 ? hasRoom(SYMBOL) : 'TRUE';
    const byName = index > 2 ? hasRoom(`${NAME} AND NOT (${SYMBOL})`) : 'TRUE';
    return step.replace(
      'LIMIT ?7',
      `LIMIT CASE WHEN ${bySymbol} THEN CASE WHEN ${byName} THEN ?7 ELSE 0 END ELSE 0 END`,
    );
  });

const SHORT_STEPS = [...STEPS.slice(0, SUBSTRING), SHORT_SUBSTRING];
const FIRST_PAGE = firstPage(STEPS);
const FIRST_SHORT_PAGE = firstPage(SHORT_STEPS);

/** Shortest text in the trigram index. */
const TRIGRAM = 3;
/** Above every text that starts with a prefix: no character sorts higher. */
const END = '\u{10FFFF}';

/**
 * A later page needs up to three round trips, up to these steps. Each runs only if the previous ones leave
 * room.
 */
const TRIPS = [2, SUBSTRING, STEPS.length];

type Query = { readonly folded: string; readonly asked: string };

/** Before the first row of a step. */
function startOf(step: number, { folded, asked }: Query): SearchCursor {
  switch (step) {
    case 1:
      // After the exact matches, which the previous step has shown.
      return { step, text: folded, tokenId: Number.MAX_SAFE_INTEGER };
    case SUBSTRING:
      return { step, text: '', tokenId: Number.MAX_SAFE_INTEGER };
    default:
      return { step, text: step <= 2 ? folded : asked, tokenId: -1 };
  }
}

/** A phrase that the index treats literally, including any operators. */
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Anywhere except at the beginning: those rows belong to the prefix steps. Letters are stored in hex. */
function shortExpression(text: string): string {
  const hex = bytesToHex(utf8ToBytes(text)).toUpperCase();
  return `grams : "${hex}" NOT heads : "${hex}"`;
}

const isShort = (folded: string): boolean => [...folded].length < TRIGRAM;

export type SearchStore = ReturnType<typeof createSearchStore>;

/**
 * The first rows of consecutive steps.
 * @param starts cursor of each step
 * @param room   rows that the page can take; a full page may end inside a step, and the next one reads its rest
 */
function taken(
  starts: readonly SearchCursor[],
  found: readonly (readonly Row[])[],
  room: number,
): SearchPage {
  const tokens: TokenRow[] = [];
  for (const [index, rows] of found.entries()) {
    const step = starts[index]?.step ?? 0;
    const shown = rows.slice(0, room - tokens.length);
    tokens.push(...shown.map((row) => tokenRow(row.journal)));
    const row = shown[shown.length - 1];
    if (tokens.length === room && row)
      return { tokens, next: { step, text: row.sort, tokenId: row.token_id } };
  }
  return { tokens, next: null };
}

export const createSearchStore = (db: D1Reads) => {
  const lists = createListStore(db, MIRROR_VERSION, { isCostly: true });

  function queryOf(sql: string, at: SearchCursor, { folded, asked }: Query, limit: number): ListQuery {
    const bounds = [folded, folded + END, asked, asked + END];
    const params = [...bounds, at.text, at.tokenId, limit];
    const expression = isShort(folded) ? shortExpression(folded) : phrase(folded);
    return { sql, columns: COLUMNS, params: [...params, ...(at.step === SUBSTRING ? [expression] : [])] };
  }

  return {
    /** @param given the caller's text, trimmed, not empty */
    async search(given: string, from: SearchCursor | null, limit: number): Promise<SearchPage> {
      // No name contains a control character, and SQLite's text ends at NUL.
      const asked = given.replace(/\p{C}/gu, '');
      if (asked === '') return { tokens: [], next: null };
      const query = { folded: foldText(asked), asked };
      const end = STEPS.length;
      const pages = isShort(query.folded) ? [SHORT_STEPS, FIRST_SHORT_PAGE] : [STEPS, FIRST_PAGE];
      const sql = pages[from ? 0 : 1] ?? STEPS;
      /** The steps from a cursor on, before the step `last`. */
      function trip(at: SearchCursor, last: number) {
        const steps = Array.from({ length: last - at.step }, (_, more) => at.step + more);
        const starts = steps.map((step) => (step === at.step ? at : startOf(step, query)));
        return {
          starts,
          queries: starts.map((start) => queryOf(sql[start.step] ?? '', start, query, limit)),
        };
      }
      if (!from) {
        const { starts, queries } = trip(startOf(0, query), end);
        return lists.read<Row, SearchPage>(queries, (found) => taken(starts, found, limit));
      }
      const tokens: TokenRow[] = [];
      for (let at = from; at.step < end; ) {
        const last = TRIPS.find((step) => step > at.step) ?? end;
        const { starts, queries } = trip(at, last);
        const found = await db.batch<Row>(queries.map(({ sql, params }) => db.prepare(sql).bind(...params)));
        const page = taken(
          starts,
          found.map(({ results }) => results),
          limit - tokens.length,
        );
        tokens.push(...page.tokens);
        if (page.next) return { tokens, next: page.next };
        at = startOf(last, query);
      }
      return { tokens, next: null };
    },
  };
};
