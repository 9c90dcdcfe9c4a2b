/**
 * Search over listed tokens, best matches first: exact symbol, symbol prefix, name prefix, mint, creator, then any
 * substring from three characters on. Each step is one bounded index read, and a row belongs to the first step that
 * finds it, so walking the cursor shows each row once while others are being listed.
 * @module
 */
import { foldText } from '../../chain/solana/token-text.ts';
import { type TokenRow, tokenRow } from './token-store.ts';

/** Where a page ended: the step, and the sort key of its last row. */
export type SearchCursor = { readonly step: number; readonly text: string; readonly tokenId: number };

export type SearchPage = { readonly tokens: TokenRow[]; readonly next: SearchCursor | null };

type Row = { journal: string; token_id: number; sort: string };

/**
 * Every step takes the same parameters:
 * ?1 ?2 bounds of the folded prefix, ?3 ?4 bounds of the prefix as written (addresses keep their case),
 * ?5 ?6 sort key after which it goes on, ?7 limit, ?8 phrase for the trigram index.
 * One row value bounds a prefix from below: with an OR in its place the planner reads the whole index.
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
  // Newest first: the text index has no better order that is cheap.
  `SELECT t.journal, t.token_id, '' AS sort FROM tokens_text f JOIN tokens t ON t.token_id = f.rowid
   WHERE tokens_text MATCH ?8 AND f.rowid < ?6 AND NOT (${SYMBOL}) AND NOT (${NAME}) AND NOT (${MINT})
   AND NOT COALESCE(${CREATOR}, 0) ORDER BY f.rowid DESC LIMIT ?7`,
] as const;

const SUBSTRING = STEPS.length - 1;

/** Whether a first page has room after the rows of an earlier step. */
const hasRoom = (finds: string): string =>
  `(SELECT COUNT(*) FROM (SELECT 1 FROM tokens t WHERE t.listed_at IS NOT NULL AND ${finds} LIMIT ?7)) < ?7`;

/**
 * The steps of a first page, all in one round trip. A step of which no row would be shown has a limit of none, and then
 * is not begun: a page full of names would else cost a look at every text that holds the same letters.
 */
const FIRST_PAGE = STEPS.map((step, index) => {
  const bySymbol = index > 1 ? hasRoom(SYMBOL) : 'TRUE';
  const byName = index > 2 ? hasRoom(`${NAME} AND NOT (${SYMBOL})`) : 'TRUE';
  return step.replace(
    'LIMIT ?7',
    `LIMIT CASE WHEN ${bySymbol} THEN CASE WHEN ${byName} THEN ?7 ELSE 0 END ELSE 0 END`,
  );
});

/** The trigram index knows nothing shorter. */
const TRIGRAM = 3;
/** Above every text that starts with a prefix: no character sorts higher. */
const END = '\u{10FFFF}';

/** A later page is asked in up to three round trips, each only when those before it leave room: up to these steps. */
const TRIPS = [2, SUBSTRING, STEPS.length];

type Query = { readonly folded: string; readonly asked: string };

/** Before the first row of a step. */
function startOf(step: number, { folded, asked }: Query): SearchCursor {
  switch (step) {
    case 1:
      // Past the exact ones, which the step before has shown.
      return { step, text: folded, tokenId: Number.MAX_SAFE_INTEGER };
    case SUBSTRING:
      return { step, text: '', tokenId: Number.MAX_SAFE_INTEGER };
    default:
      return { step, text: step <= 2 ? folded : asked, tokenId: -1 };
  }
}

/** A phrase that the index takes as it is, whatever operators it holds. */
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

export type SearchStore = ReturnType<typeof createSearchStore>;

export const createSearchStore = (db: D1Database) => {
  function statement(
    sql: string,
    at: SearchCursor,
    { folded, asked }: Query,
    limit: number,
  ): D1PreparedStatement {
    const bounds = [folded, folded + END, asked, asked + END];
    const params = [...bounds, at.text, at.tokenId, limit];
    return db.prepare(sql).bind(...params, ...(at.step === SUBSTRING ? [phrase(folded)] : []));
  }

  return {
    /** @param given as the caller wrote it, trimmed, not empty */
    async search(given: string, from: SearchCursor | null, limit: number): Promise<SearchPage> {
      // No name holds a control character, and SQLite's text ends at NUL.
      const asked = given.replace(/\p{C}/gu, '');
      if (asked === '') return { tokens: [], next: null };
      const query = { folded: foldText(asked), asked };
      const end = [...query.folded].length < TRIGRAM ? SUBSTRING : STEPS.length;
      const sql = from ? STEPS : FIRST_PAGE;
      const tokens: TokenRow[] = [];
      let at = from ?? startOf(0, query);
      while (at.step < end) {
        const { step: first } = at;
        const last = from ? Math.min(TRIPS.find((trip) => trip > first) ?? end, end) : end;
        const steps = Array.from({ length: last - first }, (_, more) => first + more);
        const starts = steps.map((step) => (step === first ? at : startOf(step, query)));
        const asks = starts.map((start) => statement(sql[start.step] ?? '', start, query, limit));
        const found = await db.batch<Row>(asks);
        for (const [index, { results }] of found.entries()) {
          const shown = results.slice(0, limit - tokens.length);
          tokens.push(...shown.map((row) => tokenRow(row.journal)));
          const step = first + index;
          const row = shown[shown.length - 1];
          at = row ? { step, text: row.sort, tokenId: row.token_id } : (starts[index] ?? at);
          // A full page may end inside a step: the next one looks whether there is more of it.
          if (tokens.length === limit) return { tokens, next: at };
        }
        at = startOf(last, query);
      }
      return { tokens, next: null };
    },
  };
};
