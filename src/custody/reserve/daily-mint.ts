/**
 * Begins one mint operation per UTC day. Any cron tick after its time can begin it. Repeated, late or missing
 * ticks change nothing: the day is the operation's key, and the next day's difference includes the rest.
 * @module
 */
import { lamports } from '../../core/amount.ts';
import type { ChainTransaction } from '../../providers/solana-rpc.ts';
import type { MintPreview, MintReport, MintRow } from '../api.ts';
import type { CustodyModule, ModuleTools } from '../kernel/module.ts';
import type { Operation } from '../kernel/operation.ts';
import type { Recognized } from '../kernel/reconcile.ts';
import {
  type AbsrPorts,
  createAbsrKind,
  dayOf,
  decideMint,
  MINT_RESERVED,
  mintDueAt,
  mintId,
  type PreviousMints,
  previousMintsOf,
  readMintFacts,
  utcDay,
} from './mint-operation.ts';

const NONE = lamports(0n);

/** Reasons for which a day's operation ends normally. */
const HARMLESS: readonly (string | null)[] = ['nothing_to_mint', 'minted_today', 'day_over'];

/** The journal's mints other than `id`. */
const previousMints =
  (journal: ModuleTools['journal']) =>
  (id: string): PreviousMints =>
    previousMintsOf(journal.openAndLanded('absr'), id);

export function createDailyMint({ journal, begin, now, log }: ModuleTools, ports: AbsrPorts) {
  let refused: string | null = null;
  const today = (): Operation | undefined => journal.get(mintId(utcDay(now())));

  return {
    kinds: { absr: createAbsrKind(ports, previousMints(journal)) },

    /**
     * Begins the day's operation once it is due. If something is missing, such as SOL, the next tick retries.
     */
    async onCron(): Promise<void> {
      if (today() || now() < mintDueAt(now())) return;
      const day = utcDay(now());
      const intent = { amount: NONE, reserved: lamports(MINT_RESERVED), plan: { day }, claims: [] };
      const begun = await begin('absr', mintId(day), () => ({ ok: true, intent }));
      refused = begun.type === 'refused' ? begun.refusal.code : null;
      if (refused) log({ level: 'warn', event: 'mint_not_begun', day, code: refused });
    },

    report(): MintReport {
      const day = utcDay(now());
      const row = today();
      if (!row) return { day, state: 'scheduled', reason: refused, ok: refused === null };
      const { reason } = row;
      if (row.state === 'done') return { day, state: 'minted', reason: null, ok: true };
      if (row.state !== 'failed') return { day, state: 'waiting', reason, ok: reason === null };
      const ok = HARMLESS.includes(reason);
      return { day, state: ok ? 'none' : 'failed', reason, ok };
    },

    /**
     * A mint has no memo: the atoms of its token that came into existence show it. It counts as the mint of its
     * block's day, so that day gets no second one.
     */
    recognize(transaction: ChainTransaction): Recognized | undefined {
      const atoms = createdAtoms(transaction, ports.mint);
      if (atoms <= 0n) return undefined;
      const day = utcDay(transaction.blockTime === null ? now() : transaction.blockTime * 1_000);
      return { id: mintId(day), kind: 'absr', amount: NONE, plan: { day, mintAtoms: atoms.toString() } };
    },

    /** The mint that would be made now. Nothing begins. @throws AppError UPSTREAM_FAILED */
    async preview(): Promise<MintPreview> {
      const day = utcDay(now());
      const facts = await readMintFacts(ports, () => previousMints(journal)(mintId(day)));
      const decision = decideMint(facts);
      const done = today()?.state === 'done' || facts.earlier.last?.day === day;
      const figures = decision.verdict === 'wait' ? null : decision.figures;
      return {
        day,
        verdict: done ? 'none' : decision.verdict,
        reason: done ? 'minted_today' : decision.verdict === 'mint' ? null : decision.reason,
        mintAtoms: !done && decision.verdict === 'mint' ? decision.atoms.toString() : null,
        reserveSats: figures?.reserveSats.toString() ?? null,
        supplyAtoms: figures?.supplyAtoms.toString() ?? null,
        decimals: figures?.decimals ?? null,
        depth: facts.depth,
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
    },

    /** Newest first. */
    history: (limit: number): MintRow[] => journal.ofKind('absr', limit).map(rowOf),
  } satisfies CustodyModule & Record<string, unknown>;
}

/** Atoms of a token that exist in the transaction's accounts after it and not before; negative after a burn. */
function createdAtoms({ preTokens, postTokens }: ChainTransaction, mint: string): bigint {
  const held = (rows: ChainTransaction['preTokens']) =>
    (rows ?? []).reduce((sum, row) => (row.mint === mint ? sum + row.atoms : sum), 0n);
  return held(postTokens) - held(preTokens);
}

function rowOf({ id, state, reason, plan, outcome, signing, landing }: Operation): MintRow {
  const figures = { ...plan, ...outcome };
  const text = (name: string): string | null => {
    const value = figures[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    day: dayOf(id),
    state,
    reason,
    mintAtoms: text('mintAtoms'),
    reserveSats: text('reserveSats'),
    supplyAtoms: text('supplyAtoms'),
    signature: landing && signing ? signing.signature : null,
    blockTime: landing?.blockTime ?? null,
  };
}
