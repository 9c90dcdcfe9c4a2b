/**
 * Stores epochs, claims and payouts in the custodian's own database, and queues their D1 rows.
 * @module
 */
import { stringifyJson } from '../../core/json.ts';
import type { AsryEpochView, ClaimedDeposit } from '../api.ts';
import type { MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { Storage } from '../kernel/ports.ts';
import type { Debt } from '../operator-api.ts';
import type { PayoutState } from '../payout-view.ts';
import { debtOf, numberOf, RowStore } from '../row-store.ts';
import { type Epoch, entitlementOf, nextUnitRate, rewardsAt } from './epochs.ts';

const SCHEMA = [
  `CREATE TABLE IF NOT EXISTS asry_epochs (
    number INTEGER PRIMARY KEY,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    row TEXT NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS asry_claims (signature TEXT PRIMARY KEY, row TEXT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS asry_payouts (
    signature TEXT NOT NULL,
    part INTEGER NOT NULL,
    state TEXT NOT NULL,
    operation_id TEXT UNIQUE,
    rent_at INTEGER,
    key_hash TEXT,
    row TEXT NOT NULL,
    PRIMARY KEY (signature, part)
  )`,
  `CREATE INDEX IF NOT EXISTS asry_payouts_begun ON asry_payouts (operation_id) WHERE state = 'begun'`,
  `CREATE INDEX IF NOT EXISTS asry_payouts_owed ON asry_payouts (state) WHERE state = 'owed'`,
  `CREATE INDEX IF NOT EXISTS asry_payouts_rent ON asry_payouts (rent_at) WHERE rent_at IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS asry_payouts_by_key ON asry_payouts (key_hash) WHERE key_hash IS NOT NULL`,
] as const;

/** A claimed deposit. Its entitlement never changes. */
export type Claim = ClaimedDeposit & {
  /** The epoch's cumulative deposits before and after this one. */
  readonly before: bigint;
  readonly after: bigint;
  readonly operations: number;
  /** Unix milliseconds. */
  readonly claimedAtMs: number;
};

export type OwedReason =
  | 'unread'
  | 'rent_budget_spent'
  | 'daily_limit'
  | 'recipient_account_missing'
  | 'recipient_account_closed'
  | 'recipient_account_foreign'
  | 'reserve_short_of_asry'
  | 'reserve_short_of_sol'
  | 'mint_unexpected'
  | 'payout_failed'
  | 'paused';

export type Payout = {
  readonly signature: string;
  readonly part: number;
  readonly atoms: bigint;
  readonly state: PayoutState;
  readonly reason: OwedReason | null;
  readonly operationId: string | null;
  /** Lamports set aside to open the recipient's account, and when. This happens at most once a day for each owner. */
  readonly rent: bigint;
  readonly rentAt: number | null;
  /** Hashes of the Idempotency-Key and of the body of the call that requested the payout. */
  readonly keyHash: string | null;
  readonly bodyHash: string | null;
  readonly createdAt: number;
  readonly paidAt: number | null;
};

const BIGINTS = new Set([
  ...['cap', 'depth', 'price', 'deposits', 'paid'],
  ...[
    'slot',
    'creditedAtoms',
    'feeAtoms',
    'netAtoms',
    'before',
    'after',
    'entitlementAtoms',
    'remainingAtoms',
  ],
  ...['atoms', 'rent'],
]);

export const decodeRow = <T>(text: string): T =>
  JSON.parse(text, (key, value: unknown) =>
    BIGINTS.has(key) && typeof value === 'string' ? BigInt(value) : value,
  ) as T;

export const payoutKey = ({ signature, part }: Pick<Payout, 'signature' | 'part'>): string =>
  `${signature}:${part}`;

const DOLLAR = 1_000_000n;

export const epochView = (epoch: Epoch): AsryEpochView => ({
  number: epoch.number,
  startsAt: epoch.startsAt,
  endsAt: epoch.endsAt,
  capAtoms: epoch.cap,
  depthAtoms: epoch.depth,
  depositsAtoms: epoch.deposits,
  entitledAtoms: rewardsAt(epoch, epoch.deposits),
  paidAtoms: epoch.paid,
  nextUnitMicroAtoms: nextUnitRate(epoch, epoch.deposits, 6),
  nextDollarAtoms: entitlementOf(epoch, epoch.deposits, DOLLAR),
  claims: epoch.claims,
  price: epoch.price,
  decimals: epoch.decimals,
});

const epochColumns = (epoch: Epoch) => ({
  created_at: new Date(epoch.startsAt * 1_000).toISOString(),
  journal: stringifyJson({ epoch, view: epochView(epoch) }),
});

type StoreTools = Pick<ModuleTools, 'journal' | 'storage' | 'now'>;

export class AsryStore {
  readonly #tools: StoreTools;
  readonly #exec: Storage['exec'];
  readonly #epochs: RowStore<Epoch>;
  readonly #claims: RowStore<Claim>;
  readonly #payouts: RowStore<Payout>;

  constructor(tools: StoreTools) {
    const { exec, transaction } = tools.storage;
    transaction(() => {
      for (const statement of SCHEMA) exec(statement);
    });
    this.#tools = tools;
    this.#exec = exec;
    this.#epochs = new RowStore(exec, 'asry_epochs', decodeRow<Epoch>);
    this.#claims = new RowStore(exec, 'asry_claims', decodeRow<Claim>);
    this.#payouts = new RowStore(exec, 'asry_payouts', decodeRow<Payout>);
  }

  /** Stores an epoch and queues its D1 update. Call inside a transaction. */
  saveEpoch(epoch: Epoch): void {
    const { journal, now } = this.#tools;
    this.#putEpoch(epoch);
    journal.queue.publish('asry_epochs', String(epoch.number), epochColumns(epoch), now());
  }

  /** Stores a claim and one of its payouts and queues the D1 update. Call inside a transaction. */
  save(claim: Claim, payout: Payout): void {
    const { journal, now } = this.#tools;
    const { signature, part, state, operationId, rentAt, keyHash } = payout;
    const columns = { state, operation_id: operationId, rent_at: rentAt, key_hash: keyHash };
    this.#payouts.put({ signature, part }, columns, payout);
    this.#claims.put({ signature: claim.signature }, {}, claim);
    journal.queue.publish('asry_claims', claim.signature, this.#claimColumns(claim), now());
  }

  #putEpoch(epoch: Epoch): void {
    const { number, startsAt, endsAt } = epoch;
    this.#epochs.put({ number }, { starts_at: startsAt, ends_at: endsAt }, epoch);
  }

  epoch(number: number): Epoch | undefined {
    return this.#epochs.first('WHERE number = ?', number);
  }

  /** @throws Error if it is not stored: a claim is stored with its epoch */
  epochOf({ epoch: number }: Claim): Epoch {
    const epoch = this.epoch(number);
    if (!epoch) throw new Error(`No epoch ${number}`);
    return epoch;
  }

  /** The epoch of a time in Unix seconds. */
  epochAt(time: number): Epoch | undefined {
    return this.#epochs.first('WHERE starts_at <= ? AND ends_at > ?', time, time);
  }

  /** Unix seconds at which the newest epoch ends. */
  lastEnd(): number | undefined {
    return numberOf(this.#exec, 'SELECT MAX(ends_at) AS n FROM asry_epochs');
  }

  epochs(limit: number): Epoch[] {
    return this.#epochs.all('ORDER BY number DESC LIMIT ?', limit);
  }

  claim(signature: string): Claim | undefined {
    return this.#claims.first('WHERE signature = ?', signature);
  }

  /** @throws Error if it is not stored: a payout is stored with its claim */
  claimOf({ signature }: Payout): Claim {
    const claim = this.claim(signature);
    if (!claim) throw new Error(`No claim ${signature}`);
    return claim;
  }

  payout(key: string): Payout | undefined {
    const [signature = '', part = ''] = key.split(':');
    return this.#payouts.first('WHERE signature = ? AND part = ?', signature, Number(part));
  }

  payouts(signature: string): Payout[] {
    return this.#payouts.all('WHERE signature = ? ORDER BY part', signature);
  }

  payoutByKey(keyHash: string, since: number): Payout | undefined {
    return this.#payouts.all('WHERE key_hash = ?', keyHash).find((payout) => payout.createdAt > since);
  }

  /**
   * Payouts whose payment has not begun.
   * @param awaiting reasons for which a payout awaits the operator
   * @param before Unix milliseconds; a payout that became owed earlier awaits the operator too
   */
  payoutDebt(awaiting: readonly OwedReason[], before: number): Debt {
    return debtOf(
      this.#exec,
      'payout_owed',
      `SELECT signature || ':' || part AS id, reason, atoms, since, since AS place,
         reason IN (SELECT value FROM json_each(?)) OR since < ? AS awaits
       FROM (SELECT signature, part, COALESCE(json_extract(row, '$.reason'), 'owed') AS reason,
         CAST(json_extract(row, '$.atoms') AS INTEGER) AS atoms, json_extract(row, '$.createdAt') AS since
         FROM asry_payouts WHERE state = 'owed')`,
      JSON.stringify(awaiting),
      before,
    );
  }

  begunPayouts(): Payout[] {
    return this.#payouts.all(`WHERE state = 'begun'`);
  }

  /** Whether the creation of an account for this owner started or ended after `since` (Unix milliseconds). */
  hasOpenedAccount(owner: string, since: number): boolean {
    const opened = this.#exec(
      `SELECT 1 FROM asry_payouts p JOIN asry_claims c ON c.signature = p.signature
       WHERE p.rent_at > ? AND json_extract(c.row, '$.sender') = ? LIMIT 1`,
      since,
      owner,
    );
    return opened.length > 0;
  }
  #claimColumns(claim: Claim) {
    return {
      epoch: claim.epoch,
      created_at: new Date(claim.claimedAtMs).toISOString(),
      journal: stringifyJson({ claim, payouts: this.payouts(claim.signature) }),
    };
  }

  /** The D1 tables. Epochs come before claims, because `adopt` reads the epoch of each claim. */
  mirrored(): readonly MirrorSource[] {
    return [
      {
        table: 'asry_epochs',
        rowsAfter: (id, limit) =>
          this.#epochs
            .after('CAST(number AS TEXT)', id, limit)
            .map((epoch) => ({ id: String(epoch.number), columns: epochColumns(epoch) })),
        // An epoch that restarted at the beginning of its curve would pay its highest rewards twice.
        adopt: (text) => this.#putEpoch(decodeRow<{ epoch: Epoch }>(text).epoch),
      },
      {
        table: 'asry_claims',
        rowsAfter: (id, limit) =>
          this.#claims
            .after('signature', id, limit)
            .map((claim) => ({ id: claim.signature, columns: this.#claimColumns(claim) })),
        adopt: (text) => {
          const { claim } = decodeRow<{ claim: Claim }>(text);
          const epoch = this.epoch(claim.epoch);
          // D1 may have the claim without the matching update of its epoch.
          if (epoch && epoch.deposits < claim.after) this.#putEpoch({ ...epoch, deposits: claim.after });
        },
      },
    ];
  }
}
