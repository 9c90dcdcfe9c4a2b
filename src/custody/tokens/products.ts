/**
 * What payments for tokens buy: the creation of a token, or the listing of one that was created elsewhere.
 * @module
 */
import type { ListingFacts } from '../../chain/solana/listed-token.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Facts, OperationKind } from '../kernel/operation.ts';
import type { OpsAnswer } from '../operator-api.ts';
import type { Product, Subject } from '../product.ts';
import { TokenStore } from './token-store.ts';

export type TokenDeps = {
  readonly creation: OperationKind;
  /** Lamports that the creation of this token costs now, according to a quorum. @throws AppError UPSTREAM_FAILED */
  creationCost(subject: Subject): Promise<bigint>;
  /** The only mint that this invoice can create. */
  readonly mintAddress: (invoiceId: string) => string;
  readonly metadataUri: (mint: string) => string;
  /** A mint's current facts for its listing, according to a quorum of nodes. @throws AppError UPSTREAM_FAILED */
  listingFacts(mint: string): Promise<ListingFacts>;
};

/** How long unlisted tokens are kept: longer than the requests that may still list them. */
const KEPT_MS = 8 * 86_400_000;
const PURGED_PER_RUN = 200;

export class Tokens implements CustodyModule {
  readonly products: { readonly token: Product; readonly listing: Product };
  readonly mirrored: readonly MirrorSource[];
  readonly commands: CustodyModule['commands'];
  readonly #tools: ModuleTools;
  readonly #store: TokenStore;

  constructor(tools: ModuleTools, deps: TokenDeps) {
    this.#tools = tools;
    this.#store = new TokenStore(tools);
    this.mirrored = [this.#store.mirrored];
    this.commands = { fingerprint: async () => fingerprintOf(deps.mintAddress) };
    this.products = { token: creationOf(this.#store, deps), listing: listingOf(this.#store, deps) };
  }

  async onCron(): Promise<void> {
    this.#store.purge(this.#tools.now() - KEPT_MS, PURGED_PER_RUN);
  }
}

const creationOf = (store: TokenStore, deps: TokenDeps): Product => ({
  columns: ({ status }) => ({ status }),
  // A token created by the service is listed when it is created, without a listing payment.
  completedRecord: {
    table: 'listings',
    viewOf: (view) => ({ ...view, kind: 'listing', feeLamports: '0', refunds: [] }),
    columns: ({ tokenId }) => ({ token_id: Number(tokenId), status: 'confirmed' }),
  },
  refusal: () => undefined,
  open({ id, subject }) {
    const mint = deps.mintAddress(id);
    return { ...subject, mint, uri: deps.metadataUri(mint) };
  },
  check: null,
  work: {
    kind: deps.creation,
    costOf: (subject) => deps.creationCost(subject),
    planOf: ({ subject }) => subject as Facts,
  },
  deliver: (order, now) => store.list(order, now),
});

const listingOf = (store: TokenStore, deps: TokenDeps): Product => ({
  columns: ({ subject, status }) => ({
    token_id: Number(subject.tokenId),
    status: status === 'completed' ? 'confirmed' : 'pending',
  }),
  completedRecord: null,
  refusal({ mint }) {
    const tokenId = store.listedId(String(mint));
    if (tokenId === undefined) return undefined;
    return { code: 'ALREADY_LISTED', message: 'This token is already listed.', details: { tokenId } };
  },
  open: ({ subject }, now) => store.numbered(subject, now),
  async check({ subject }) {
    const facts = await deps.listingFacts(String(subject.mint));
    return facts.type === 'refused'
      ? { type: 'refused', reason: `listing refused: ${facts.fault.type}` }
      : { type: 'possible', subject: facts.token };
  },
  work: null,
  deliver: (order, now) => store.list(order, now),
});

/** Identifies MINT_KEY_SEED without revealing it: the address that it derives for an invoice that cannot exist. */
const fingerprintOf = (mintAddress: TokenDeps['mintAddress']): OpsAnswer => ({
  ok: true,
  message: 'The mint address of the invoice named doctor.',
  rows: [{ setting: 'MINT_KEY_SEED', fingerprint: mintAddress('doctor') }],
});
