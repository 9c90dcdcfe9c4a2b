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
/** The trigram index knows nothing shorter. */
const TRIGRAM = 3;
/** Above every text that starts with a prefix: no character sorts higher. */
const END = '\u{10FFFF}';

/** Steps up to here are asked in one round trip, those after it in another where these do not fill the page. */
const FIRST_TRIP = 2;

type Query = { readonly folded: string; readonly asked: string };

/** Before the first row of a step. */
function startOf(step: number, { folded, asked }: Query): SearchCursor {
  const before = { step, tokenId: -1 };
  switch (step) {
    case 1:
      // Past the exact ones, which the step before has shown.
      return { step, text: folded, tokenId: Number.MAX_SAFE_INTEGER };
    case SUBSTRING:
      return { step, text: '', tokenId: Number.MAX_SAFE_INTEGER };
    default:
      return { ...before, text: step <= 2 ? folded : asked };
  }
}

/** A phrase that the index takes as it is, whatever operators it holds. */
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

export type SearchStore = ReturnType<typeof createSearchStore>;

export const createSearchStore = (db: D1Database) => {
  function statement(at: SearchCursor, { folded, asked }: Query, limit: number): D1PreparedStatement {
    const bounds = [folded, folded + END, asked, asked + END];
    const params = [...bounds, at.text, at.tokenId, limit];
    return db
      .prepare(STEPS[at.step] ?? '')
      .bind(...params, ...(at.step === SUBSTRING ? [phrase(folded)] : []));
  }

  return {
    /** @param given as the caller wrote it, trimmed, not empty */
    async search(given: string, from: SearchCursor | null, limit: number): Promise<SearchPage> {
      // No name holds a control character, and SQLite's text ends at NUL.
      const asked = given.replace(/\p{C}/gu, '');
      if (asked === '') return { tokens: [], next: null };
      const query = { folded: foldText(asked), asked };
      const end = [...query.folded].length < TRIGRAM ? SUBSTRING : STEPS.length;
      const tokens: TokenRow[] = [];
      let at = from ?? startOf(0, query);
      while (at.step < end) {
        const last = at.step < FIRST_TRIP ? FIRST_TRIP : end;
        const steps = Array.from({ length: last - at.step }, (_, more) => at.step + more);
        const starts = steps.map((step) => (step === at.step ? at : startOf(step, query)));
        const found = await db.batch<Row>(starts.map((start) => statement(start, query, limit)));
        for (const [index, { results }] of found.entries()) {
          const room = limit - tokens.length;
          const shown = results.slice(0, room);
          tokens.push(...shown.map((row) => tokenRow(row.journal)));
          const step = steps[index] ?? end;
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
