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
 */
const SYMBOL = 't.symbol >= ?1 AND t.symbol < ?2';
const NAME = 't.name >= ?1 AND t.name < ?2';
const MINT = 't.mint_address >= ?3 AND t.mint_address < ?4';
const CREATOR = 't.creator_address >= ?3 AND t.creator_address < ?4';

const prefixStep = (column: string, finds: string, earlier: string): string =>
  `SELECT t.journal, t.token_id, ${column} AS sort FROM tokens t
   WHERE t.listed_at IS NOT NULL AND ${finds} ${earlier} AND (${column} > ?5 OR (${column} = ?5 AND t.token_id > ?6))
   ORDER BY ${column}, t.token_id LIMIT ?7`;

const STEPS = [
  `SELECT t.journal, t.token_id, '' AS sort FROM tokens t
   WHERE t.listed_at IS NOT NULL AND t.symbol = ?1 AND t.token_id > ?6 ORDER BY t.token_id LIMIT ?7`,
  prefixStep('t.symbol', SYMBOL, 'AND t.symbol <> ?1'),
  prefixStep('t.name', NAME, `AND NOT (${SYMBOL})`),
  prefixStep('t.mint_address', MINT, `AND NOT (${SYMBOL}) AND NOT (${NAME})`),
  prefixStep('t.creator_address', CREATOR, `AND NOT (${SYMBOL}) AND NOT (${NAME}) AND NOT (${MINT})`),
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

/** Before the first row of a step. */
const startOf = (step: number): SearchCursor => ({
  step,
  text: '',
  tokenId: step === SUBSTRING ? Number.MAX_SAFE_INTEGER : -1,
});

/** A phrase that the index takes as it is, whatever operators it holds. */
const phrase = (text: string): string => `"${text.replaceAll('"', '""')}"`;

export type SearchStore = ReturnType<typeof createSearchStore>;

export const createSearchStore = (db: D1Database) => ({
  /** @param asked as the caller wrote it, trimmed, not empty */
  async search(asked: string, from: SearchCursor | null, limit: number): Promise<SearchPage> {
    // No name holds a control character, and SQLite's text ends at NUL.
    const query = asked.replace(/\p{C}/gu, '');
    if (query === '') return { tokens: [], next: null };
    const folded = foldText(query);
    const bounds = [folded, folded + END, query, query + END];
    const steps = [...folded].length < TRIGRAM ? SUBSTRING : STEPS.length;
    const tokens: TokenRow[] = [];
    let at = from ?? startOf(0);
    while (at.step < steps) {
      const room = limit - tokens.length;
      if (room === 0) return { tokens, next: at };
      const params = [
        ...bounds,
        at.text,
        at.tokenId,
        room,
        ...(at.step === SUBSTRING ? [phrase(folded)] : []),
      ];
      const { results } = await db
        .prepare(STEPS[at.step] ?? '')
        .bind(...params)
        .all<Row>();
      tokens.push(...results.map((row) => tokenRow(row.journal)));
      const last = results[results.length - 1];
      at =
        last && results.length === room
          ? { step: at.step, text: last.sort, tokenId: last.token_id }
          : startOf(at.step + 1);
    }
    return { tokens, next: null };
  },
});
