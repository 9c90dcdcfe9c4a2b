/**
 * The daily mint of ABSR: mints the reserve's sats minus the supply to the treasury. One sat equals one whole token, so
 * the reserve is scaled by the mint's decimals. Uncertain sats are not minted; the next day's difference includes them.
 * One operation starts for each UTC day, in any cron run after its time. The day is the operation's key, so repeated,
 * late or missing runs do no harm.
 * @module
 */
import { type MintMultisig, mintFee, mintMessage } from '../../chain/solana/token-messages.ts';
import { lamports } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import { upstreamFailed } from '../../core/errors.ts';
import { agreePrices, type PriceReport } from '../../core/price.ts';
import { beginOperation } from '../kernel/begin-operation.ts';
import { birthOf } from '../kernel/birth.ts';
import type { CustodyModule, ModuleTools } from '../kernel/module.ts';
import {
  type Facts,
  type KindRules,
  type Operation,
  type OperationKind,
  type Prepared,
  plainlyPrepared,
  settlesByLanding,
  textOf,
} from '../kernel/operation.ts';
import { isRotated, reasonText } from '../kernel/reason.ts';
import type { Blockhash } from '../nodes/solana-view.ts';
import type { MintPreview, MintReport, MintRow } from '../operator-api.ts';
import { decideMint, type MintFacts, type PreviousMints } from './mint-decision.ts';
import { newestProof } from './proof.ts';
import { MINT_CONFIRMATIONS, type ReserveView, type SupplyView } from './reserve-views.ts';

/** Each attempt is proven to have ended before the next, so 20 attempts outlast an outage of a quarter of an hour. */
const ABSR_RULES: KindRules = {
  maxAttempts: 20,
  retriesPreparation: true,
  settles: false,
  coveredAt: 'begin',
};

/** Maximum lamports for a missing treasury account; Token-2022 needs slightly more than Token. */
const ACCOUNT_RENT = 3_000_000n;
const MINT_RESERVED = mintFee(2) + ACCOUNT_RENT;

const NONE = lamports(0n);
/** Placeholder for the witness's signature until the witness has signed. */
const BLANK = new Uint8Array(64);

/** Reasons for a day without a mint that require no action. */
const HARMLESS: readonly (string | null)[] = ['nothing_to_mint', 'minted_today', 'day_over'];

/** UTC date of a time in Unix milliseconds, such as `2026-11-20`. */
export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const ID = 'absr:';
const mintId = (day: string, number: number): string => `${ID}${day}${number === 1 ? '' : `:${number}`}`;
const dayOf = (id: string): string => id.slice(ID.length, ID.length + '2026-11-20'.length);

/** The witness, which holds the second key of the mint authority, if there is one. */
export type WitnessPorts = {
  /** The multisig account that is the mint authority. */
  readonly multisig: string;
  /**
   * Reads the multisig from a quorum of nodes.
   * @returns null unless it is a 2-of-2 multisig of the reserve and another key
   * @throws AppError UPSTREAM_FAILED
   */
  readMultisig(): Promise<MintMultisig | null>;
  /**
   * Adds the witness's signature to a mint, and verifies it.
   * @param transaction base64, with the reserve's signature and a blank second one
   * @throws AppError UPSTREAM_FAILED
   */
  cosign(transaction: string, witness: string): Promise<string>;
};

export type AbsrPorts = {
  /** Absent if the reserve's key alone is the mint authority. */
  readonly witness?: WitnessPorts;
  readonly mint: string;
  /** Owner of the receiving account. */
  readonly treasury: string;
  /** Number of configured Solana nodes, and of Bitcoin indexes. */
  readonly nodes: number;
  readonly indexes: number;
  reserveViews(depth: number): Promise<ReserveView[]>;
  supplyViews(): Promise<SupplyView[]>;
  readPrices(): Promise<PriceReport[]>;
  latestBlockhash(): Promise<Blockhash>;
};

/** The price is only recorded, so a mint does not wait for it. */
async function readBtcUsd(ports: Pick<AbsrPorts, 'readPrices'>): Promise<bigint | undefined> {
  try {
    const reports = await ports.readPrices();
    const agreed = agreePrices(reports);
    if (agreed.ok) return agreed.price.btcUsd;
    return reports.length === 1 ? reports[0]?.btcUsd : undefined;
  } catch {
    return undefined;
  }
}

export function previousMintsOf(rows: readonly Operation[], id: string): PreviousMints {
  const others = rows.filter((row) => row.id !== id);
  const last = others.reduce<PreviousMints['last']>((newest, row) => {
    const { landing } = row;
    if (!landing || (newest && newest.slot >= landing.slot)) return newest;
    const day = landing.blockTime === null ? dayOf(row.id) : utcDay(landing.blockTime * 1_000);
    return { slot: landing.slot, day };
  }, null);
  return { open: others.some((row) => row.state === 'signed'), last };
}

const REFUSED = 'mint_refused';

/** Time of day from which a day's mint is due, in milliseconds after 00:00 UTC. */
const MINT_TIME_MS = 5 * 60_000;

/** When the mint of the day that contains `ms` is due, in Unix milliseconds. */
export const mintDueAt = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS + MINT_TIME_MS;

export class DailyMint implements CustodyModule {
  readonly kinds: { readonly absr: OperationKind } = {
    absr: {
      rules: ABSR_RULES,
      prepare: (operation) => this.#prepare(operation),
      complete: (operation, wire) => this.#complete(operation, wire),
      settle: settlesByLanding,
    },
  };
  readonly #tools: ModuleTools;
  readonly #ports: AbsrPorts;

  constructor(tools: ModuleTools, ports: AbsrPorts) {
    this.#tools = tools;
    this.#ports = ports;
  }

  #previous(id: string): PreviousMints {
    const { journal } = this.#tools;
    const known = previousMintsOf(journal.openAndLanded('absr'), id);
    const birth = birthOf(journal);
    // The views of the supply must include the lost journal's last mint.
    return known.last || !birth
      ? known
      : { ...known, last: { slot: BigInt(birth.slot), day: utcDay(birth.at) } };
  }

  /** Slot of the newest landed mint; 0 if there is none. */
  lastSlot(): bigint {
    return this.#previous('').last?.slot ?? 0n;
  }

  async #readFacts(id: string): Promise<MintFacts> {
    const { nodes, indexes, witness, ...ports } = this.#ports;
    const authority = witness?.multisig ?? this.#tools.reserveAddress;
    const [reserves, supplies] = await Promise.all([
      ports.reserveViews(MINT_CONFIRMATIONS),
      ports.supplyViews(),
    ]);
    return { reserves, supplies, nodes, indexes, authority, earlier: this.#previous(id) };
  }

  /**
   * Reason why this operation's day cannot have its own mint. The day may also end while upstreams are read. If the
   * clock is set back, an earlier day starts again; the last mint's block time shows that this day is over.
   */
  #closed({ id }: Operation): 'day_over' | 'minted_today' | undefined {
    const today = utcDay(this.#tools.now());
    const lastDay = this.#previous(id).last?.day ?? '';
    if (dayOf(id) !== today || lastDay > today) return 'day_over';
    return lastDay === today ? 'minted_today' : undefined;
  }

  async #prepare(operation: Operation): Promise<Prepared> {
    const early = this.#closed(operation);
    if (early) return { ok: false, reason: early };
    const [facts, price] = await Promise.all([this.#readFacts(operation.id), readBtcUsd(this.#ports)]);
    const decision = decideMint(facts);
    if (decision.verdict === 'wait') throw upstreamFailed('absr', decision.reason);
    const { figures } = decision;
    if (decision.verdict === 'none') return { ok: false, reason: decision.reason, outcome: figures };
    const { witness } = this.#ports;
    const [lifetime, multisig] = await Promise.all([this.#ports.latestBlockhash(), witness?.readMultisig()]);
    if (multisig === null) return { ok: false, reason: 'not_mint_authority', outcome: figures };
    const late = this.#closed(operation);
    if (late) return { ok: false, reason: late, outcome: figures };
    const { mint, treasury: owner } = this.#ports;
    const { signer: payer } = operation;
    const { atoms, program } = decision;
    const { decimals } = figures;
    // The mint's memo contains the hash of the newest proof, so the chain shows that this proof is older than the mint.
    const proofHash = newestProof(this.#tools.journal)?.hash;
    const memo = proofHash && `proof:${proofHash}`;
    const message = mintMessage({ payer, multisig, mint, program, owner, atoms, decimals, memo }, lifetime);
    return {
      ...plainlyPrepared(message, lifetime),
      ...(multisig && { cosign: async () => [BLANK], lacksSignature: true }),
      plan: {
        ...figures,
        mintAtoms: atoms.toString(),
        mintSats: (atoms / 10n ** BigInt(decimals)).toString(),
        priceBtcUsd: price?.toString() ?? null,
        proofHash: proofHash ?? null,
        ...(multisig && { witness: multisig.witness }),
      },
    };
  }

  async #complete({ plan }: Operation, wire: string): Promise<string> {
    const { witness } = this.#ports;
    if (!witness || typeof plan.witness !== 'string') throw upstreamFailed('witness', 'witness_unreachable');
    return witness.cosign(wire, plan.witness);
  }

  /**
   * The day's operation, if it has started, and its id. Another operation follows only if a change of the key has ended
   * the first.
   */
  #today(): { readonly day: string; readonly id: string; readonly row: Operation | undefined } {
    const { journal, now } = this.#tools;
    const day = utcDay(now());
    for (let number = 1; ; number++) {
      const id = mintId(day, number);
      const row = journal.get(id);
      if (!row || !isRotated(row.reason)) return { day, id, row };
    }
  }

  #isDue(): boolean {
    const now = this.#tools.now();
    return !this.#today().row && now >= mintDueAt(now) && utcDay(now) > this.#birthDay();
  }

  /** The day of the journal's birth after a loss, or empty. The lost journal may have minted on that day. */
  #birthDay(): string {
    const birth = birthOf(this.#tools.journal);
    return birth === undefined ? '' : utcDay(birth.at);
  }

  /** Why the last cron run did not start a mint. Stored, because the object is evicted before the next run. */
  #refused(): string | null {
    return this.#tools.journal.getMeta(REFUSED) || null;
  }

  /** Starts the day's operation once it is due. If a requirement such as SOL is missing, the next run retries. */
  async onCron(): Promise<void> {
    const { journal, log, drive } = this.#tools;
    if (!this.#isDue()) return;
    const { day, id } = this.#today();
    const begun = await beginOperation(this.#tools, 'absr', id, () => ({
      ok: true,
      intent: intentOf(day),
    }));
    const code = begun.type === 'refused' ? begun.why.code : '';
    if (this.#refused() !== (code || null)) journal.setMeta(REFUSED, code);
    if (code) log({ level: 'warn', event: 'mint_not_begun', day, code });
    else await drive(id);
  }

  report(): MintReport {
    const { day, row } = this.#today();
    const refused = this.#refused();
    if (!row) return { day, state: 'scheduled', reason: refused, ok: refused === null };
    const reason = reasonText(row.reason);
    if (row.state === 'done') return { day, state: 'minted', reason: null, ok: true };
    if (row.state !== 'failed') return { day, state: 'waiting', reason, ok: reason === null };
    const ok = HARMLESS.includes(reason);
    return { day, state: ok ? 'none' : 'failed', reason, ok };
  }

  /** The mint that would currently be made. It is not started. @throws AppError UPSTREAM_FAILED */
  async preview(): Promise<MintPreview> {
    const { day, id } = this.#today();
    const facts = await this.#readFacts(id);
    const decision = decideMint(facts);
    const done = this.#today().row?.state === 'done' || facts.earlier.last?.day === day;
    const figures = decision.verdict === 'wait' ? null : decision.figures;
    return {
      day,
      verdict: done ? 'none' : decision.verdict,
      reason: done ? 'minted_today' : decision.verdict === 'mint' ? null : decision.reason,
      mintAtoms: !done && decision.verdict === 'mint' ? decision.atoms.toString() : null,
      reserveSats: figures?.reserveSats ?? null,
      supplyAtoms: figures?.supplyAtoms ?? null,
      decimals: figures?.decimals ?? null,
      depth: MINT_CONFIRMATIONS,
      indexes: facts.reserves.map((view) => ({
        name: view.source,
        tipHeight: view.tip.height,
        confirmedSats: view.confirmed.toString(),
        pendingSpentSats: view.pendingSpent.toString(),
        youngTransactions: view.young.length,
      })),
      nodes: facts.supplies.map((view) => ({
        name: view.source,
        slot: view.slot.toString(),
        supplyAtoms: view.atoms.toString(),
      })),
    };
  }

  history(limit: number): MintRow[] {
    return this.#tools.journal.ofKind('absr', limit).map(rowOf);
  }
}

const intentOf = (day: string) => ({ amount: NONE, reserved: lamports(MINT_RESERVED), plan: { day } });

function rowOf({ id, state, reason, plan, outcome, signing, landing }: Operation): MintRow {
  const { mintAtoms, reserveSats, supplyAtoms }: Facts = { ...plan, ...outcome };
  return {
    day: dayOf(id),
    state,
    reason: reasonText(reason),
    mintAtoms: textOf(mintAtoms),
    reserveSats: textOf(reserveSats),
    supplyAtoms: textOf(supplyAtoms),
    signature: landing && signing ? signing.signature : null,
    blockTime: landing?.blockTime ?? null,
  };
}
