/**
 * Tokens and invoices from D1, which the custodian mirrors. Read only.
 * @module
 */
import * as z from 'zod';
import { RequestView } from '../../custody/api.ts';
import { bornAtColumn, olderThan } from '../../http/birth-store.ts';
import type { D1Reads } from '../../http/read-session.ts';
import { journalRow, journalText, type RowSchema, rowsOf } from '../../http/stored-rows.ts';

const Request = z.object({ view: RequestView });
const RequestJournal = journalRow(Request);
const Invoice = z.object({ journal: journalText(Request), bornAt: bornAtColumn });

/** `bornAt`: when the journal began, if the invoice is older; otherwise null. An older invoice never changes again. */
export type MirroredInvoice = { readonly request: RequestView; readonly bornAt: number | null };

/** A token as the custodian writes it into the column `journal`. */
type StoredToken = {
  readonly tokenId: number;
  readonly mint: string;
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Atoms. */
  readonly supply: string;
  readonly creator?: string | null;
  readonly uri?: string | null;
  readonly description?: string | null;
  readonly image?: string | null;
  readonly program: 'token' | 'token-2022';
  readonly requestId?: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly listedAt?: number | null;
};

/**
 * These rows are not checked against a schema, because only the custodian writes them and a page has a hundred of them.
 */
export function tokenRow(journal: string) {
  const token = JSON.parse(journal) as StoredToken;
  return {
    ...token,
    supply: BigInt(token.supply),
    creator: token.creator ?? null,
    uri: token.uri ?? null,
    description: token.description ?? '',
    image: token.image ?? null,
    requestId: token.requestId ?? null,
    listedAt: token.listedAt ?? null,
  };
}

export type TokenRow = Readonly<ReturnType<typeof tokenRow>>;

const Stored: RowSchema<TokenRow> = { parse: (row) => tokenRow((row as { journal: string }).journal) };

const MintAddress = z.object({ mint_address: z.string() }).transform((row) => row.mint_address);

const OF_CREATOR = `SELECT journal FROM tokens WHERE creator_address = ? AND listed_at IS NOT NULL AND token_id < ?
  ORDER BY token_id DESC LIMIT ?`;

/** Sorts after every ISO 8601 time. */
const BEYOND_ALL = '~';

const INVOICE = `SELECT journal, ${olderThan('invoices')} AS bornAt FROM invoices WHERE id = ?`;
const CAN_END = `(status <> 'pending' OR ${olderThan('listings')} IS NULL)`;

export type TokenStore = ReturnType<typeof createTokenStore>;

/**
 * @param primary for a token that a replica does not have yet. Wallets read the metadata of a new token without a
 * bookmark, and cache a 404.
 */
export const createTokenStore = (db: D1Reads, primary: D1Reads) => {
  const one = async (query: string, key: string | number): Promise<TokenRow | undefined> => {
    const read = (from: D1Reads) => from.prepare(query).bind(key).all();
    const near = await read(db);
    const isBehind = near.results.length === 0 && near.meta.served_by_primary === false;
    const [row] = (isBehind ? await read(primary) : near).results;
    return row ? Stored.parse(row) : undefined;
  };

  return {
    byId: (tokenId: number) => one('SELECT journal FROM tokens WHERE token_id = ?', tokenId),
    byMint: (mint: string) => one('SELECT journal FROM tokens WHERE mint_address = ?', mint),

    /** Listed tokens, newest first. @param below exclusive upper bound of their ids */
    list: (limit: number, below = Number.MAX_SAFE_INTEGER) =>
      rowsOf(
        db,
        Stored,
        'SELECT journal FROM tokens WHERE listed_at IS NOT NULL AND token_id < ? ORDER BY token_id DESC LIMIT ?',
        below,
        limit,
      ),
    /** Mint addresses of listed tokens, newest first. */
    listedMints: (limit: number): Promise<string[]> =>
      rowsOf(
        db,
        MintAddress,
        'SELECT mint_address FROM tokens WHERE listed_at IS NOT NULL ORDER BY token_id DESC LIMIT ?',
        limit,
      ),
    ofCreator: (creator: string, limit: number, below = Number.MAX_SAFE_INTEGER) =>
      rowsOf(db, Stored, OF_CREATOR, creator, below, limit),

    /**
     * Listing records of one token or all tokens, newest first, without those that a lost journal left open. @param
     * after time and id of the last record shown
     */
    async listings(
      tokenId: number | undefined,
      limit: number,
      after: readonly [createdAt: string, id: string] = [BEYOND_ALL, ''],
    ): Promise<RequestView[]> {
      const where = tokenId === undefined ? '' : 'token_id = ? AND';
      const sql = `SELECT journal FROM listings WHERE ${where} (created_at, id) < (?, ?) AND ${CAN_END} ORDER BY created_at DESC, id DESC LIMIT ?`;
      const params = [...(tokenId === undefined ? [] : [tokenId]), ...after, limit];
      return (await rowsOf(db, RequestJournal, sql, ...params)).map(({ view }) => view);
    },

    async invoice(id: string): Promise<MirroredInvoice | undefined> {
      const [row] = await rowsOf(db, Invoice, INVOICE, id);
      return row && { request: row.journal.view, bornAt: row.bornAt };
    },
  };
};
