/** Claims of one deposit with storage only: each payout begins and is never executed. */

import type { DepositTransaction } from '../../../src/chain/solana/deposit.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import type { ClaimRequest } from '../../../src/custody/api.ts';
import { Asry } from '../../../src/custody/asry/asry.ts';
import { AsryStore, type Payout, payoutKey } from '../../../src/custody/asry/asry-store.ts';
import { claimDeposit } from '../../../src/custody/asry/claim.ts';
import type { AsryPorts, PayoutAccounts } from '../../../src/custody/asry/context.ts';
import { PAYOUT } from '../../../src/custody/asry/payout.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import type { LookedUp, Lookup } from '../../../src/custody/nodes/signature-lookups.ts';
import { depositSignature, wallet } from '../../kit/addresses.ts';
import { lookUpOf } from '../../kit/custodian.ts';
import { createTools, runDue } from '../../kit/kernel.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { asChainTransaction, PROGRAM, terms, transactionOf } from './claim-simulation.ts';

export const DEPOSIT = {
  signature: depositSignature(90_001),
  sender: wallet(90_001),
  asset: 'USDC' as const,
  atoms: 100_000_000n,
  /** Seconds from the first epoch's start. */
  at: 60,
};
export const CLAIM = {
  signature: DEPOSIT.signature,
  asset: DEPOSIT.asset,
  skipReward: false,
  client: 'client',
};

export function createStoredClaims(change: Partial<AsryPorts> = {}) {
  const storage = createSqliteStorage();
  const journal = new Journal(storage, {
    onEnd: (operation) => claims.kinds?.[operation.kind]?.onEnd?.(operation),
  });
  const state = {
    now: Number(PROGRAM.startsAt) * 1_000 + 3_600_000,
    /** The transaction of the deposit, and the result of its lookup if it is another one. */
    transaction: transactionOf(DEPOSIT) as DepositTransaction | null,
    lookedUp: undefined as LookedUp | Error | undefined,
    lookups: [] as Lookup[],
    /** Reads of the recipients, and what is different in what they show. */
    reads: 0,
    shown: {} as Partial<PayoutAccounts>,
    /** No node shows the recipients. */
    unread: false,
    isVerified: true,
    stopped: undefined as string | undefined,
  };
  const now = () => state.now;
  const logged: Readonly<Record<string, unknown>>[] = [];
  const tools = createTools(storage, now, {
    journal,
    log: (line) => void logged.push(line),
    isVerified: () => state.isVerified,
    stopBeginning: async () => state.stopped,
  });
  const claims = new Asry(tools, {
    mint: wallet(900_005),
    terms,
    program: PROGRAM,
    async lookUp(lookup) {
      state.lookups.push(lookup);
      if (state.lookedUp instanceof Error) throw state.lookedUp;
      return state.lookedUp ?? lookUpOf(async () => asChainTransaction(state.transaction))(lookup);
    },
    readMint: async () => ({ program: TOKEN_PROGRAM, decimals: 9 }),
    readAccounts: async (recipients) => {
      state.reads++;
      if (state.unread) throw new Error('the nodes are down');
      return recipients.map((accountOwner) => ({
        program: TOKEN_PROGRAM,
        decimals: 9,
        accountOwner,
        reserveAtoms: 10n ** 18n,
        ...state.shown,
      }));
    },
    latestBlockhash: () => Promise.reject(new Error('not asked')),
    ...change,
    within: (work) => work,
  });
  /** What an alarm does. */
  const run = () => runDue(claims, tools.agenda);
  const claim = (request: ClaimRequest) => claimDeposit(claims.context, request);
  return { claims, claim, storage, journal, now, state, logged, agenda: tools.agenda, run };
}

/** Further stored claims like the first, `deposit-1` to `deposit-41`, each with one payout like its payout; owed ones are due. */
export function storeCopies(
  { w, store, claim, payout }: Awaited<ReturnType<typeof openClaimed>>,
  change: (signature: string, at: number) => Partial<Payout>,
): void {
  for (let at = 1; at <= 41; at++) {
    const signature = `deposit-${at}`;
    const copy = { ...payout, signature, keyHash: null, ...change(signature, at) };
    store.save({ ...claim, signature, operations: copy.operationId === null ? 0 : 1 }, copy);
    if (copy.state === 'owed') w.agenda.plan(PAYOUT, payoutKey(copy), at);
  }
}

/** The stored claim of {@link DEPOSIT} with its one payout. */
export async function openClaimed() {
  const w = createStoredClaims();
  const store = new AsryStore(w);
  await w.claim(CLAIM);
  const claim = store.claim(DEPOSIT.signature);
  const [payout] = store.payouts(DEPOSIT.signature);
  if (!claim || !payout) throw new Error('no claim');
  return { w, store, claim, payout };
}
