/** Simulates the production custodian with its claims. */

import { type DepositTransaction, depositTerms } from '../../../src/chain/solana/deposit.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import type { ClaimAnswer, ClaimRequest } from '../../../src/custody/api.ts';
import { type Claim, decodeRow, type Payout } from '../../../src/custody/asry/asry-store.ts';
import { type AsryProgram, PROGRAM_TERMS } from '../../../src/custody/asry/epochs.ts';
import { decodeOperation, type Operation } from '../../../src/custody/kernel/operation.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { lookUpOf } from '../../kit/custodian.ts';
import { LIMITS } from '../../kit/limits.ts';
import { START, simulateCustodian, TREASURY } from '../../kit/simulated-custodian.ts';
import { ataOf } from '../../simulator/transactions.ts';
import { ADDRESSES, mostReward } from '../../simulator/world.ts';

const { asry: ASRY, reserve, USDC, USDT } = ADDRESSES;
export const terms = depositTerms({
  treasury: TREASURY,
  reserve,
  mints: { USDC, USDT },
  heldSenders: new Set(),
});

export type SimulatedDeposit = {
  readonly signature: string;
  readonly sender: string;
  readonly asset: 'USDC' | 'USDT';
  readonly atoms: bigint;
  /** Seconds from the first epoch's start. */
  readonly at: number;
  /** A slot before the simulation if absent. */
  readonly slot?: bigint;
};

export const PROGRAM: AsryProgram = { ...PROGRAM_TERMS, startsAt: START / 1_000, price: null };

export type SimulationOptions = {
  readonly seed?: number;
  readonly deposits: readonly SimulatedDeposit[];
  readonly program?: Partial<AsryProgram>;
  /** Whether the senders' ASRY accounts exist from the start; true by default. */
  readonly opened?: boolean;
  /** A node's false view of a deposit; throws when the node fails. */
  readonly see?: (node: number, signature: string) => DepositTransaction | null | undefined;
  /** ASRY and SOL of the reserve before it paid anything. */
  readonly reserveAtoms?: bigint;
  readonly startLamports?: bigint;
  /** Lamports that may be spent in a day on recipients' accounts. */
  readonly rentDay?: bigint;
  /** Lamports that may be spent in a day on fees of payouts that fail. */
  readonly failedDay?: bigint;
  /** Decimals of the mint of ASRY; nine by default. */
  readonly mintDecimals?: number;
  /** Whether a payout fails on the chain. */
  readonly failing?: () => number;
};

/** The transaction of a deposit. */
export const transactionOf = (deposit: SimulatedDeposit): DepositTransaction => {
  const mint = ADDRESSES[deposit.asset];
  const row = (owner: string, atoms: bigint) => ({
    account: ataOf(owner, mint),
    mint,
    owner,
    program: TOKEN_PROGRAM,
    atoms,
  });
  return {
    signature: deposit.signature,
    slot: deposit.slot ?? 99_000n,
    blockTime: START / 1_000 + deposit.at,
    failed: false,
    signers: [deposit.sender],
    preTokens: [row(deposit.sender, deposit.atoms), row(TREASURY, 0n)],
    postTokens: [row(deposit.sender, 0n), row(TREASURY, deposit.atoms)],
  };
};

export type Simulation = ReturnType<typeof createAsrySimulation>;

export function createAsrySimulation(options: SimulationOptions) {
  let program: AsryProgram = { ...PROGRAM, ...options.program };
  const deposits = new Map(options.deposits.map((deposit) => [deposit.signature, transactionOf(deposit)]));

  const run = simulateCustodian({
    seed: options.seed,
    startLamports: options.startLamports,
    failing: options.failing,
    // The chain has the deposit from the start; its nodes show it with its block time, or falsely.
    nodes: (nodes) =>
      nodes.map((node, index) => ({
        ...node,
        async transaction(signature, ...more) {
          const found = await node.transaction(signature, ...more);
          const seen = options.see?.(index, signature);
          const shown = seen === undefined ? deposits.get(signature) : seen;
          return shown === undefined ? found : asChainTransaction(shown);
        },
      })),
    deps: ({ asry, ...deps }) => ({
      ...deps,
      limits: {
        ...LIMITS,
        floor: lamports(0n),
        rent_day: options.rentDay ?? LIMITS.rent_day,
        failed_payouts_day: options.failedDay ?? LIMITS.failed_payouts_day,
      },
      lookUp: lookUpOf((signature) => deps.swap.transaction(signature)),
      ...(asry && { asry: { ...asry, program } }),
    }),
  });
  const { host, rowsOf, ledger, truth } = run;
  for (const { signature, sender, atoms } of options.deposits) {
    ledger.transfer(signature, { from: sender, to: TREASURY, lamports: 0n });
    truth.deposits.set(signature, { atoms, account: ataOf(sender, ASRY), most: mostReward(atoms) });
    if (options.opened ?? true) run.openAccount(sender);
  }
  if (options.reserveAtoms !== undefined) run.setReserveAtoms(options.reserveAtoms);
  ledger.mints.set(ASRY, { program: TOKEN_PROGRAM, decimals: options.mintDecimals ?? 9, authority: null });

  const rows = <T>(table: string, order: string): T[] =>
    host.disk
      .exec(`SELECT row FROM ${table} ORDER BY ${order}`, [])
      .map((row) => decodeRow<T>(String(row.row)));

  const asking = (request: Partial<ClaimRequest> & { signature: string }): ClaimRequest => ({
    asset: 'USDC',
    skipReward: false,
    client: 'ip',
    ...request,
  });

  return {
    ...run,
    claims: (): Claim[] => rows<Claim>('asry_claims', 'rowid'),
    payouts: (): Payout[] => rows<Payout>('asry_payouts', 'signature, part'),
    operations: (): Operation[] =>
      host.disk
        .exec("SELECT row FROM operations WHERE kind = 'asry' ORDER BY seq", [])
        .map((row) => decodeOperation(String(row.row))),
    epochs: () =>
      rows<{ number: number; deposits: bigint; paid: bigint; claims: number }>('asry_epochs', 'number'),

    /** A claim at a given time, and its result. A caller whose call is lost does not repeat it. */
    claimAt(
      time: number,
      request: Partial<ClaimRequest> & { signature: string },
      hear: (answer: ClaimAnswer | undefined) => void,
    ): void {
      run.at(time, (custody) => custody.claimDeposit(asking(request)), hear);
    },

    /** A claim now, and its answer. */
    ask: (request: Partial<ClaimRequest> & { signature: string }): Promise<ClaimAnswer | undefined> =>
      run.call((custody) => custody.claimDeposit(asking(request))),

    /** D1 has never received these. */
    forget: (signature: string): Promise<unknown> =>
      Promise.all([
        rowsOf(`DELETE FROM asry_claims WHERE id = '${signature}'`),
        rowsOf(`DELETE FROM operations WHERE id LIKE 'asry:${signature}:%'`),
      ]),

    /** Another deployment, with these parameters instead of the first. */
    reconfigure(change: Partial<AsryProgram>): void {
      program = { ...program, ...change };
      host.restart('another configuration');
    },

    /** Takes a name for something else, as another flow would. False when it is taken. */
    take(name: string, purpose: string): boolean {
      host.disk.exec('INSERT INTO once (name, used_by, used_at) VALUES (?, ?, 0) ON CONFLICT DO NOTHING', [
        name,
        purpose,
      ]);
      return run.usedBy(name) === purpose;
    },

    epochViews: () => run.call((custody) => custody.listAsryEpochs(100)),
  };
}

/** A deposit as returned by a node; its lamports do not matter. */
export const asChainTransaction = (deposit: DepositTransaction | null): ChainTransaction | null =>
  deposit && {
    ...deposit,
    fee: 5_000n,
    accounts: deposit.signers,
    preLamports: deposit.signers.map(() => 0n),
    postLamports: deposit.signers.map(() => 0n),
    preTokens: deposit.preTokens?.map((row) => ({ ...row, decimals: 6 })) ?? null,
    postTokens: deposit.postTokens?.map((row) => ({ ...row, decimals: 6 })) ?? null,
  };
