/** Simulates the production custodian with its claims. */

import type { DepositTransaction } from '../../../src/chain/solana/deposit.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import type { ClaimAnswer, ClaimRequest, OpsCommand } from '../../../src/custody/api.ts';
import { type Claim, decodeRow, type Payout } from '../../../src/custody/asry/asry-store.ts';
import type { AsryProgram } from '../../../src/custody/asry/epochs.ts';
import { decodeOperation, type Operation } from '../../../src/custody/kernel/operation.ts';
import { SolanaView } from '../../../src/custody/kernel/solana-view.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { lookUpOf } from '../../kit/custodian.ts';
import { LIMITS } from '../../kit/limits.ts';
import {
  ASRY,
  MINTS,
  RESERVE,
  type SimulatedCustodian,
  START,
  simulateCustodian,
  TREASURY,
  terms,
} from '../../kit/simulated-custodian.ts';

const DAY_SECONDS = 86_400;

export type SimulatedDeposit = {
  readonly signature: string;
  readonly sender: string;
  readonly asset: 'USDC' | 'USDT';
  readonly atoms: bigint;
  /** Seconds from the programme's start. */
  readonly at: number;
};

export const PROGRAM: AsryProgram = {
  startsAt: START / 1_000,
  epochSeconds: 30 * DAY_SECONDS,
  cap: 1_000_000n,
  depth: 90_000n * 10n ** 6n,
  price: null,
  minimumDeposit: 1_000_000n,
  maxAgeSeconds: 90 * DAY_SECONDS,
};

export type SimulationOptions = {
  readonly seed: number;
  readonly deposits: readonly SimulatedDeposit[];
  readonly program?: Partial<AsryProgram>;
  /** Whether the senders' ASRY accounts exist from the start; true by default. */
  readonly opened?: boolean;
  /** A node's false view of a deposit; throws when the node fails. */
  readonly see?: (node: number, signature: string) => DepositTransaction | null | undefined;
  /** ASRY and SOL of the reserve before it paid anything. */
  readonly reserveAtoms?: () => bigint;
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
  const mint = MINTS[deposit.asset];
  const row = (owner: string, atoms: bigint) => ({
    account: owner === TREASURY ? terms.accounts[deposit.asset] : findAta(owner, mint, TOKEN_PROGRAM),
    mint,
    owner,
    program: TOKEN_PROGRAM,
    atoms,
  });
  return {
    signature: deposit.signature,
    slot: 99_000n,
    blockTime: START / 1_000 + deposit.at,
    failed: false,
    signers: [deposit.sender],
    preTokens: [row(deposit.sender, deposit.atoms), row(TREASURY, 0n)],
    postTokens: [row(deposit.sender, 0n), row(TREASURY, deposit.atoms)],
  };
};

export type Simulation = ReturnType<typeof createAsrySimulation>;

export function createAsrySimulation(options: SimulationOptions) {
  let reconfigured: Partial<AsryProgram> = {};
  const deposits = new Map(options.deposits.map((deposit) => [deposit.signature, transactionOf(deposit)]));

  const run: SimulatedCustodian = simulateCustodian({
    seed: options.seed,
    ...(options.startLamports !== undefined && { startLamports: options.startLamports }),
    failing: options.failing,
    modules: ({ net, nodes, now, solana }) => {
      const view = new SolanaView({
        nodes: nodes.map((node, index) => ({
          ...node,
          transaction: (signature) =>
            net(`deposit@${index}`, async () => {
              const seen = options.see?.(index, signature);
              return asChainTransaction(seen === undefined ? (deposits.get(signature) ?? null) : seen);
            }),
        })),
        reserveAddress: RESERVE,
        now,
        within: (work) => work,
        log: () => undefined,
      });
      return {
        limits: {
          ...LIMITS,
          floor: lamports(0n),
          rent_day: options.rentDay ?? LIMITS.rent_day,
          failed_payouts_day: options.failedDay ?? LIMITS.failed_payouts_day,
        },
        lookUp: lookUpOf((signature) => view.transaction(signature)),
        asry: {
          reserveAddress: RESERVE,
          mint: ASRY,
          terms,
          program: { ...PROGRAM, ...options.program, ...reconfigured },
          readMint: () =>
            net('mint', async () => ({ program: TOKEN_PROGRAM, decimals: options.mintDecimals ?? 9 })),
          readAccounts: (recipients) =>
            net('recipients', async () => {
              const sent = run.landed().reduce((sum, { order }) => sum + order.atoms, 0n);
              return recipients.map((recipient) => ({
                program: TOKEN_PROGRAM,
                decimals: options.mintDecimals ?? 9,
                accountOwner: run.hasAccount(recipient) ? recipient : null,
                reserveAtoms: (options.reserveAtoms?.() ?? 10n ** 18n) - sent,
              }));
            }),
          latestBlockhash: () => solana.latestBlockhash(),
        },
      };
    },
  });
  const { host, rowsOf } = run;
  if (options.opened ?? true) for (const { sender } of options.deposits) run.openAccount(sender);

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
    claims: (): Claim[] => rows<Claim>('asry_claims', 'seq'),
    payouts: (): Payout[] => rows<Payout>('asry_payouts', 'signature, part'),
    operations: (): Operation[] =>
      host.disk
        .exec("SELECT row FROM operations WHERE kind = 'asry' ORDER BY seq", [])
        .map((row) => decodeOperation(String(row.row))),
    epochs: () =>
      rows<{ number: number; deposits: bigint; paid: bigint; claims: number }>('asry_epochs', 'number'),

    /** D1's rows, by id. */
    mirrored: () => rowsOf('SELECT id, journal FROM asry_claims ORDER BY id'),

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
    reconfigure(program: Partial<AsryProgram>): void {
      reconfigured = program;
      host.restart('another configuration');
    },

    /** Takes a name for something else, as another flow would. False when it is taken. */
    take(name: string, purpose: string): boolean {
      host.disk.exec(
        'INSERT INTO claims (name, purpose, claimed_at) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
        [name, purpose],
      );
      return run.consumerOf(name) === purpose;
    },

    ops: (command: OpsCommand) => run.call((custody) => custody.ops(command)),
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
