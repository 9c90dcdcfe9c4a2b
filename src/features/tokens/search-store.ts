/**
 * Search over listed tokens, best matches first: exact symbol, symbol prefix, name prefix, mint, creator, then any
 * substring. One statement reads a page: each step is a bounded index read, and SQLite runs no further step once the
 * page is full. A row belongs to the first step that finds it, so each row is shown once, even while other tokens are
 * being listed.
 * @module
 */
import { foldText } from '../../chain/solana/token-text.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { type TokenRow, tokenRow } from './token-store.ts';

/** End of a page: the step, and the sort key of its last row. */
export type SearchCursor = { readonly step: number; readonly text: string; readonly tokenId: number };

export type SearchPage = { readonly tokens: TokenRow[]; readonly next: SearchCursor | null };

type Row = { journal: string; token_id: number; step: number; sort: string };

/**
 * ?1 ?2: bounds of the folded prefix. ?3 ?4: bounds of the prefix in its original case, for addresses. ?5 ?6 ?7: step,
 * text and id of the cursor. ?8: limit. ?9: expression for the text index. A row value is the lower bound of a prefix,
 * because with an OR the planner would read the whole index.
 */
const SYMBOL = 't.symbol >= ?1 AND t.symbol < ?2';
const NAME = 't.name >= ?1 AND t.name < ?2';
const MINT = 't.mint_address >= ?3 AND t.mint_address < ?4';
const CREATOR = 't.creator_address >= ?3 AND t.creator_address < ?4';

const AFTER_ALL = Number.MAX_SAFE_INTEGER;

/** Continues after the cursor if the cursor is in this step; otherwise starts at the step's beginning. */
const from = (step: number, cursor: string, start: string | number): string =>
  `IIF(?5 = ${step}, ${cursor}, ${start})`;

const arm = (step: number, sort: string, rest: string): string =>
  `SELECT * FROM (SELECT t.journal, t.token_id, ${step} AS step, ${sort} AS sort FROM ${rest} LIMIT ?8)`;

/** @param start of the step: bound and id just before its first row */
const prefixArm = (
  step: number,
  column: string,
  [low, id, high]: readonly [string, number, string],
  earlier: string,
) =>
  arm(
    step,
    column,
    `tokens t WHERE ?5 <= ${step} AND t.listed_at IS NOT NULL
     AND (${column}, t.token_id) > (${from(step, '?6', low)}, ${from(step, '?7', id)}) AND ${column} < ${high} ${earlier}
     ORDER BY ${column}, t.token_id`,
  );

const PREFIXES = [
  arm(
    0,
    't.symbol',
    `tokens t WHERE ?5 = 0 AND t.listed_at IS NOT NULL AND t.symbol = ?1 AND t.token_id > ?7 ORDER BY t.token_id`,
  ),
  // Starts after the exact matches, which belong to the previous step.
  prefixArm(1, 't.symbol', ['?1', AFTER_ALL, '?2'], ''),
  prefixArm(2, 't.name', ['?1', -1, '?2'], `AND NOT (${SYMBOL})`),
  prefixArm(3, 't.mint_address', ['?3', -1, '?4'], `AND NOT (${SYMBOL}) AND NOT (${NAME})`),
  prefixArm(
    4,
    't.creator_address',
    ['?3', -1, '?4'],
    `AND NOT (${SYMBOL}) AND NOT (${NAME}) AND NOT (${MINT})`,
  ),
];
/** Newest first, because the text index has no better order at low cost. */
const SUBSTRING = arm(
  5,
  "''",
  `tokens_text f JOIN tokens t ON t.token_id = f.rowid
   WHERE tokens_text MATCH ?9 AND f.rowid < ${from(5, '?7', AFTER_ALL)} AND NOT (${SYMBOL}) AND NOT (${NAME})
   AND NOT (${MINT}) AND NOT COALESCE(${CREATOR}, 0) ORDER BY f.rowid DESC`,
);
/** D1 allows five terms in a compound SELECT, so the prefixes are one term of the page. */
const PREFIX_ROWS = `SELECT * FROM (${PREFIXES.join(' UNION ALL ')})`;
const SHORT_PAGE = `${PREFIX_ROWS} LIMIT ?8`;
const PAGE = `${PREFIX_ROWS} UNION ALL ${SUBSTRING} LIMIT ?8`;

/** Minimum length for the trigram index. A shorter string is found only at the start of a name or symbol. */
const TRIGRAM = 3;
/** The highest character. A prefix with it appended sorts above every string that starts with the prefix. */
const END = '\u{10FFFF}';
const START: SearchCursor = { step: 0, text: '', tokenId: -1 };

/** A phrase that the index treats literally, including any operators. */
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

export type SearchStore = ReturnType<typeof createSearchStore>;

export const createSearchStore = (db: D1Reads) => ({
  /** @param given the caller's search string, trimmed and not empty */
  async search(given: string, after: SearchCursor | null, limit: number): Promise<SearchPage> {
    // Names never contain control characters, and SQLite's strings end at NUL.
    const exact = given.replace(/\p{C}/gu, '');
    if (exact === '') return { tokens: [], next: null };
    const folded = foldText(exact);
    const isShort = [...folded].length < TRIGRAM;
    const { step, text, tokenId } = after ?? START;
    const params = [folded, folded + END, exact, exact + END, step, text, tokenId, limit];
    const statement = isShort
      ? db.prepare(SHORT_PAGE).bind(...params)
      : db.prepare(PAGE).bind(...params, phrase(folded));
    const { results } = await statement.all<Row>();
    const last = results.at(-1);
    return {
      tokens: results.map(({ journal }) => tokenRow(journal)),
      next:
        last && results.length === limit
          ? { step: last.step, text: last.sort, tokenId: last.token_id }
          : null,
    };
  },
});
