/**
 * The tokens that were created or listed, each with its number: rows of the journal and of D1.
 * @module
 */
import { foldText } from '../../chain/solana/token-text.ts';
import type { MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Order, Subject } from '../product.ts';
import { numberOf, RowStore } from '../row-store.ts';

type TokenEntry = { readonly tokenId: number; readonly mint: string } & Readonly<Record<string, unknown>>;

const entryOf = (text: string): TokenEntry => JSON.parse(text) as TokenEntry;

/** Key of `meta`: the highest number that was given. */
const HIGHEST = 'token_number';
const CREATED_AT = "json_extract(row, '$.createdAt')";
const IS_UNLISTED = "json_extract(row, '$.listedAt') IS NULL";

export class TokenStore {
  readonly mirrored: MirrorSource;
  readonly #tools: Pick<ModuleTools, 'journal' | 'storage' | 'now'>;
  readonly #tokens: RowStore<TokenEntry>;

  constructor(tools: Pick<ModuleTools, 'journal' | 'storage' | 'now'>) {
    const { exec } = tools.storage;
    exec(
      'CREATE TABLE IF NOT EXISTS tokens (token_id INTEGER PRIMARY KEY, mint TEXT NOT NULL UNIQUE, row TEXT NOT NULL)',
    );
    exec(`CREATE INDEX IF NOT EXISTS tokens_unlisted ON tokens (${CREATED_AT}) WHERE ${IS_UNLISTED}`);
    this.#tools = tools;
    this.#tokens = new RowStore(exec, 'tokens', entryOf);
    this.mirrored = {
      table: 'tokens',
      rowsAfter: (id, limit) =>
        this.#tokens
          .after('CAST(token_id AS TEXT)', id, limit)
          .map((token) => ({ id: String(token.tokenId), columns: tokenColumns(token) })),
      // D1 has one row for each number and each mint.
      adopt: (journal) => this.#put(entryOf(journal)),
    };
  }

  listedId(mint: string): number | undefined {
    const token = this.#byMint(mint);
    return token?.listedAt ? token.tokenId : undefined;
  }

  /** Lists a token with the facts of its request, and returns its number. Call inside a transaction. */
  list({ id: requestId, subject }: Order, now: number): number {
    const mint = String(subject.mint);
    const known = this.#byMint(mint);
    const token: TokenEntry = known
      ? { ...known, ...subject, mint, tokenId: known.tokenId, listedAt: now }
      : { ...subject, tokenId: this.#nextId(), mint, requestId, createdAt: now, listedAt: now };
    return this.#save(token, now).tokenId;
  }

  /** The first request to list a token gives it a number; each later one postpones its deletion. */
  numbered(subject: Subject, now: number): Subject {
    const mint = String(subject.mint);
    const known = this.#byMint(mint);
    const tokenId = known?.tokenId ?? this.#nextId();
    if (!known?.listedAt) this.#save({ ...subject, mint, tokenId, listedAt: null, createdAt: now }, now);
    return { ...subject, tokenId };
  }

  /** Deletes at most `limit` tokens that no payment has ever listed and no request has named since a time. */
  purge(before: number, limit: number): void {
    const unlisted = `SELECT token_id FROM tokens WHERE ${IS_UNLISTED} AND ${CREATED_AT} < ? LIMIT ?`;
    this.#tools.storage.exec(`DELETE FROM tokens WHERE token_id IN (${unlisted})`, before, limit);
  }

  #byMint(mint: string): TokenEntry | undefined {
    return this.#tokens.first('WHERE mint = ?', mint);
  }

  /**
   * A number that no token has ever had: callers may still name a token whose row was deleted. Call inside a
   * transaction.
   */
  #nextId(): number {
    const { journal, storage } = this.#tools;
    const stored = numberOf(storage.exec, 'SELECT MAX(token_id) AS n FROM tokens') ?? 0;
    const next = Math.max(stored, Number(journal.getMeta(HIGHEST) ?? 0)) + 1;
    journal.setMeta(HIGHEST, String(next));
    return next;
  }

  #put(token: TokenEntry): void {
    this.#tokens.put({ token_id: token.tokenId }, { mint: token.mint }, token);
  }

  #save(token: TokenEntry, now: number): TokenEntry {
    this.#put(token);
    this.#tools.journal.queue.publish('tokens', String(token.tokenId), tokenColumns(token), now);
    return token;
  }
}

const tokenColumns = (token: TokenEntry) => ({
  token_id: token.tokenId,
  mint_address: token.mint,
  creator_address: typeof token.creator === 'string' ? token.creator : null,
  name: foldText(String(token.name)),
  symbol: foldText(String(token.symbol)),
  listed_at: typeof token.listedAt === 'number' ? new Date(token.listedAt).toISOString() : null,
  created_at: new Date(Number(token.createdAt)).toISOString(),
  journal: JSON.stringify(token),
});
