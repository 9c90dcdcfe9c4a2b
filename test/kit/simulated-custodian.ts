/**
 * The custodian as production composes it, over the simulator's world in virtual time and without faults. The test that
 * makes it fails if the run breaks an invariant of the simulator.
 */

import { expect, onTestFinished } from 'vitest';
import type { RequestKind } from '../../src/core/record-tables.ts';
import type { RequestView } from '../../src/custody/api.ts';
import type { Custodian } from '../../src/custody/custodian.ts';
import type { SqlRow } from '../../src/custody/kernel/ports.ts';
import type { OpsAnswer, OpsCommand } from '../../src/custody/operator-api.ts';
import { CREATION_COST } from '../simulator/actors.ts';
import type { Contents } from '../simulator/disk.ts';
import { calm } from '../simulator/faults.ts';
import { key } from '../simulator/ledger.ts';
import { loadProduction, OWN_SOURCE } from '../simulator/production.ts';
import { scenarioOf } from '../simulator/scenario.ts';
import { ataOf, type Transaction } from '../simulator/transactions.ts';
import { ADDRESSES, createWorld, mostReward, OTHER_TREASURY, type WorldChange } from '../simulator/world.ts';
import { wallet } from './addresses.ts';
import { shownCode } from './operator.ts';
import { tokenDesign } from './token-design.ts';

export const START = 1_800_000_000_000;
const MINUTE = 60_000;
const production = await loadProduction(OWN_SOURCE);

const { reserve: RESERVE, asry: ASRY } = ADDRESSES;
export const TREASURY = OTHER_TREASURY;
const asryAccount = (owner: string): string => ataOf(owner, ASRY);

const SUBJECT = {
  ...tokenDesign({ program: 'token', decimals: 9, revokeMint: true }),
  supply: '1',
  costLamports: CREATION_COST.toString(),
};

export function simulateCustodian({
  seed = 1,
  startLamports = 100_000_000_000n,
  failing,
  nodeRate,
  nodeCount = 2,
  ...change
}: WorldChange & {
  readonly seed?: number | undefined;
  /** Requests that each node serves in a second. */
  readonly nodeRate?: number | undefined;
  readonly nodeCount?: number | undefined;
  readonly startLamports?: bigint | undefined;
  /** Chance that a transaction fails on the chain. */
  readonly failing?: (() => number) | undefined;
}) {
  const sends = Object.defineProperty({ ...calm.sends }, 'failing', { get: failing ?? (() => 0) });
  const world = createWorld(
    {
      ...scenarioOf(seed),
      ...(nodeRate === undefined ? {} : { nodeRate }),
      epoch: START,
      slotMs: 100,
      nodes: Array(nodeCount).fill({ retention: Number.POSITIVE_INFINITY }),
      lies: undefined,
      remoteKey: false,
      startLamports,
      treasuryIsReserve: false,
      caps: {
        scale: 1n,
        hourSol: 4n,
        daySol: 10n,
        unsettledSol: 4n,
        refundsSol: '0.5',
        costSol: '0.1',
        payouts: '2000',
        creations: '500',
      },
      calm: { ...calm, sends, nodes: { ...calm.nodes, lags: [0] }, latencyMs: 50, latent: 1 },
    },
    production,
    () => undefined,
    // The daily mint and the proofs have models of their own.
    { ...change, deps: ({ absr: _, proof: __, ...deps }) => change.deps?.(deps) ?? deps },
  );
  const { scheduler, ledger, host, witness, state, truth } = world;
  onTestFinished(() => {
    host.close();
    expect(witness.violations).toEqual([]);
  });
  state.isCalm = true;
  let clients = 0;
  let mints = 0;

  const cron = (): void => {
    void host.ask('wake');
    scheduler.after(MINUTE, cron);
  };
  scheduler.after(MINUTE, cron);

  /** A call at a given time, and its result; undefined if it fails. */
  function at<T>(
    time: number,
    ask: (custody: Custodian) => Promise<T>,
    hear: (answer: T | undefined) => void,
  ): void {
    scheduler.at(time, () => {
      void host.event('call', ask).then((outcome) => hear(outcome.ok ? outcome.value : undefined));
    });
  }

  /** A call now, while something else advances the time. */
  async function ask<T>(work: (custody: Custodian) => Promise<T>): Promise<T | undefined> {
    const outcome = await host.event('call', work);
    return outcome.ok ? outcome.value : undefined;
  }

  /** A call now, without a time limit. */
  async function call<T>(ask: (custody: Custodian) => Promise<T>): Promise<T | undefined> {
    let value: T | undefined;
    let answered = false;
    at(scheduler.now(), ask, (answer) => {
      answered = true;
      value = answer;
    });
    await scheduler.run(scheduler.now() + 10 * MINUTE, () => answered);
    return value;
  }

  const ops = (name: OpsCommand['name'], id?: string): Promise<OpsAnswer | undefined> =>
    call((custody) => custody.ops(id === undefined ? { name } : { name, id }));

  /** Advances the time to the next event. */
  async function pass(ms: number): Promise<void> {
    let over = false;
    scheduler.after(ms, () => {
      over = true;
    });
    await scheduler.run(scheduler.now() + ms, () => over);
  }

  function effectsOf({ actions, memo }: Transaction) {
    const moved = actions.find(({ type }) => type === 'move');
    return {
      memo,
      /** The owner of the account that receives tokens, and whether the transaction opens that account. */
      receiver: (moved?.type === 'move' && ledger.tokenAccounts.get(moved.to)?.owner) || '',
      atoms: moved?.type === 'move' ? moved.atoms : 0n,
      createsAccount: actions.some(({ type }) => type === 'open'),
    };
  }

  return {
    ...world,
    at,
    ask,
    call,
    ops,
    pass,

    /** Advances the clock, but not the chain, without any event in between. */
    skip(ms: number): void {
      state.clockOffset += ms;
      host.rearm();
    },

    /** The effects of the successful reserve transactions on the chain. */
    landed: () => witness.moved().map(({ entry }) => effectsOf(entry.transaction)),

    async rowsOf(sql: string): Promise<SqlRow[]> {
      const statement = world.d1.database.prepare(sql) as never as { all(): Promise<{ results: SqlRow[] }> };
      return (await statement.all()).results;
    },

    /** Opens an empty account for ASRY. */
    openAccount: (owner: string): string => ledger.openAccount(owner, ASRY),
    /** Closes that account, as its owner may. */
    closeAccount(owner: string): void {
      const name = key.exists(asryAccount(owner));
      ledger.endow(name, -ledger.value(name));
    },
    setReserveAtoms(atoms: bigint): void {
      const name = key.atoms(asryAccount(RESERVE));
      ledger.endow(name, atoms - ledger.value(name));
    },

    /** Pays the reserve as a third party. */
    credit: (lamports: bigint): void =>
      ledger.transfer(world.signature(), { from: wallet(900_006), to: RESERVE, lamports }),

    /** Opens a request; throws if it is refused. @param by `ask` while something else advances the time */
    async open(kind: RequestKind, client = `ip-${++clients}`, by = call): Promise<RequestView> {
      const mint = wallet(900_100 + ++mints);
      if (kind !== 'token') ledger.nameMint(mint, { name: SUBJECT.name, symbol: SUBJECT.symbol });
      const subject = { ...SUBJECT, ...(kind !== 'token' && { mint }) };
      const asked = { kind, subject, baseFeeLamports: 20_000_000n, client };
      const opened = await by((custody) => custody.openRequest(asked));
      if (opened?.type !== 'opened') throw new Error(`not opened: ${opened?.refusal.code}`);
      const { request } = opened;
      const { id, reference, feeLamports } = request;
      if (kind === 'token')
        truth.invoices.set(String(request.mintAddress), { fee: BigInt(feeLamports), id, reference });
      return request;
    },

    /** Pays the treasury; the payment lands in the next block. */
    pay(payer: string, lamports: bigint, references: readonly string[]): string {
      const signature = world.signature();
      ledger.transfer(signature, { from: payer, to: TREASURY, lamports }, references);
      truth.payments.set(signature, { lamports, payer });
      return signature;
    },

    /** Pays 25 USDC to the treasury. @param hasAccount whether the sender has an account for the reward */
    deposit(sender: string, hasAccount: boolean): string {
      const signature = world.signature();
      const atoms = 25_000_000n;
      const from = ledger.openAccount(sender, ADDRESSES.USDC, atoms);
      const to = ataOf(TREASURY, ADDRESSES.USDC);
      ledger.endow(key.lamports(sender), 5_000n);
      if (hasAccount) ledger.openAccount(sender, ASRY);
      ledger.add({
        signature,
        accounts: [sender, from, to],
        signers: 1,
        fee: 5_000n,
        actions: [{ type: 'move', from, to, atoms }],
        memo: null,
        born: null,
        readable: true,
      });
      truth.deposits.set(signature, { atoms, account: asryAccount(sender), most: mostReward(atoms) });
      return signature;
    },

    /** Empties the custodian's storage, or restores it to `rows`. */
    loseJournal(rows: Contents = []): void {
      state.isLost = true;
      host.restore(rows, 'lost');
    },
    remember: (): Contents => host.disk.contents(),

    /** The operator lets the journal begin anew as soon as that is possible, and resumes. */
    async beginAnew(): Promise<void> {
      const shown = await ops('begin-anew');
      if (!shown?.ok) await pass(11 * MINUTE);
      const code = shownCode((await ops('begin-anew'))?.message ?? '');
      const answer = await ops('begin-anew', code);
      if (!answer?.ok) throw new Error(`not begun anew: ${answer?.message}`);
      state.isLost = false;
      await ops('resume');
    },

    /** The row that uses a name. */
    usedBy: (name: string): unknown =>
      host.disk.exec('SELECT used_by FROM once WHERE name = ?', [name])[0]?.used_by,
  };
}
