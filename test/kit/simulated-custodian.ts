/**
 * The custodian of the kit over the simulator's models, in virtual time and without faults. A test adds the modules
 * that it tests.
 */
import { depositTerms } from '../../src/chain/solana/deposit.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { lamports } from '../../src/core/amount.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import type { Custodian, CustodyDeps } from '../../src/custody/custodian.ts';
import { createD1Mirror } from '../../src/custody/kernel/outbox.ts';
import type { SqlRow } from '../../src/custody/kernel/ports.ts';
import { SolanaView } from '../../src/custody/kernel/solana-view.ts';
import type { SolanaNode } from '../../src/providers/solana-rpc.ts';
import { createD1Model } from '../simulator/d1-model.ts';
import type { Contents } from '../simulator/disk.ts';
import { createHost, type Instance } from '../simulator/host.ts';
import { createLedger, type Entry, FINALITY, key } from '../simulator/ledger.ts';
import { createNodes } from '../simulator/nodes.ts';
import { loadProduction, OWN_SOURCE } from '../simulator/production.ts';
import { createRandom } from '../simulator/random.ts';
import { createScheduler } from '../simulator/scheduler.ts';
import { ataOf, signatureOf, type Transaction } from '../simulator/transactions.ts';
import { wallet } from './addresses.ts';
import { assembleTransaction, createCustodyFakes } from './custodian.ts';
import { createFakeBridge, createSwapPorts } from './fake-bridge.ts';
import { LIMITS } from './limits.ts';

export const START = 1_800_000_000_000;
export const SLOT_MS = 100;
const MINUTE = 60_000;
const production = await loadProduction(OWN_SOURCE);

export const RESERVE = wallet(900_001);
export const TREASURY = wallet(900_002);
export const MINTS = { USDC: wallet(900_003), USDT: wallet(900_004) };
export const ASRY = wallet(900_005);
export const terms = depositTerms({
  treasury: TREASURY,
  reserve: RESERVE,
  mints: MINTS,
  heldSenders: new Set(),
});

const FAULTS = {
  sends: { dropped: 0, late: 0, failing: 0, forked: 0, hidden: 0, returning: 1 },
  nodes: { failing: 0, shifting: 1, lags: [0], balanced: false, lostAnswers: 0 },
  d1: { failing: 0, outageMs: 0, lostAnswers: 0, lateCommits: 0 },
  host: { crash: 0, replace: 0, flush: 1, alarmLost: 0, alarmRepeated: 0, alarmLateMs: 0, alarmRetried: 1 },
};
const MOST_LATENCY_MS = 50;

/** The outside world as called by one instance of the custodian. */
export type Reach = {
  /** A call over the network. */
  readonly net: <T>(label: string, ask: () => Promise<T>) => Promise<T>;
  readonly nodes: readonly SolanaNode[];
  readonly solana: SolanaView;
  readonly now: () => number;
};

/** The effects of a transaction of the reserve, decoded from its signed bytes. */
export type Effects = {
  /** `mint:<address>` of a creation, else the memo. */
  readonly intent: string;
  readonly memo: string | undefined;
  /** The receiver of lamports. */
  readonly to: string;
  readonly lamports: bigint;
  /** The owner of the account that receives tokens, and whether the transaction opens that account. */
  readonly receiver: string;
  readonly atoms: bigint;
  readonly createsAccount: boolean;
};

export type SimulatedCustodian = ReturnType<typeof simulateCustodian>;

export function simulateCustodian(p: {
  readonly seed: number;
  readonly startLamports?: bigint;
  /** Chance that a transaction fails on the chain. */
  readonly failing?: (() => number) | undefined;
  readonly modules: (reach: Reach) => Partial<CustodyDeps>;
  /** Calls that a node accepts per second; it refuses all others. Unlimited if absent. */
  readonly nodeRate?: number;
  /** Whether a call may fail, because its caller receives the error. An alarm may not. */
  readonly callsFail?: boolean;
}) {
  const random = createRandom(p.seed);
  const scheduler = createScheduler();
  const wallClock = () => START + scheduler.now();
  const errors: string[] = [];
  const alarms: string[] = [];

  const chain = createLedger({
    scheduler,
    random: random.fork(),
    slotMs: SLOT_MS,
    fates: () => ({ ...FAULTS.sends, failing: p.failing?.() ?? 0 }),
    onLanding: ({ transaction, before }) => {
      if (transaction.accounts[0] !== RESERVE) return;
      const spent = transaction.actions.reduce(
        (sum, action) => sum + (action.type === 'pay' || action.type === 'create' ? action.lamports : 0n),
        transaction.fee,
      );
      if ((before.get(key.lamports(RESERVE)) ?? 0n) < spent)
        errors.push(`${transaction.signature} is not covered`);
    },
    onDropped: () => undefined,
    onFinal: () => undefined,
    onUncovered: ({ signature }) => errors.push(`${signature} is not covered`),
  });
  chain.endow(key.lamports(RESERVE), p.startLamports ?? 100_000_000_000n);
  chain.mints.set(ASRY, { program: TOKEN_PROGRAM, decimals: 9, authority: null });
  const openAccount = (owner: string, atoms = 0n): void =>
    chain.openAccount(ataOf(owner, ASRY), { owner, mint: ASRY, program: TOKEN_PROGRAM }, atoms);
  openAccount(RESERVE, 10n ** 18n);
  const d1 = createD1Model({
    scheduler,
    random: random.fork(),
    schema: production.schema,
    faults: () => FAULTS.d1,
  });
  async function rowsOf(sql: string): Promise<SqlRow[]> {
    const statement = d1.database.prepare(sql) as never as { all(): Promise<{ results: SqlRow[] }> };
    return (await statement.all()).results;
  }
  const nodes = createNodes({
    ledger: chain,
    random: random.fork(),
    production,
    specs: [{ retention: Number.POSITIVE_INFINITY }, { retention: Number.POSITIVE_INFINITY }],
    lies: () => undefined,
    faults: () => FAULTS.nodes,
    blockTime: (slot) => Math.floor((START + chain.timeOf(slot)) / 1_000),
    forged: [],
    onLie: () => undefined,
    onSend: () => undefined,
  });
  const netRandom = random.fork();
  /** Calls to all nodes since this count was last read, and calls to each node in the current second. */
  const nodeCalls = { count: 0, second: 0, inSecond: new Map<string, number>() };

  function askNode(label: string): void {
    const [node = ''] = label.split('.');
    const second = Math.floor(scheduler.now() / 1_000);
    if (second !== nodeCalls.second) nodeCalls.inSecond.clear();
    nodeCalls.second = second;
    nodeCalls.count++;
    const calls = (nodeCalls.inSecond.get(node) ?? 0) + 1;
    nodeCalls.inSecond.set(node, calls);
    if (calls > (p.nodeRate ?? Number.POSITIVE_INFINITY)) throw upstreamFailed(node, 'rate_limited');
  }

  function effectsOf({ actions, memo }: Transaction): Effects {
    const created = actions.find(({ type }) => type === 'create');
    const paid = actions.find(({ type }) => type === 'pay');
    const moved = actions.find(({ type }) => type === 'move');
    return {
      intent: created?.type === 'create' ? `mint:${created.mint}` : (memo ?? ''),
      memo: memo ?? undefined,
      to: paid?.type === 'pay' ? paid.to : '',
      lamports: paid?.type === 'pay' ? paid.lamports : 0n,
      receiver: (moved?.type === 'move' && chain.tokenAccounts.get(moved.to)?.owner) || '',
      atoms: moved?.type === 'move' ? moved.atoms : 0n,
      createsAccount: actions.some(({ type }) => type === 'open'),
    };
  }

  const hasAccount = (owner: string): boolean =>
    chain.valueAt(key.exists(ataOf(owner, ASRY)), chain.tip() - FINALITY, chain.tip()) === 1n;

  /** The successful reserve transactions on the chain. */
  const landed = (): { readonly entry: Entry; readonly order: Effects }[] =>
    chain.entries
      .filter(
        ({ transaction, failed, droppedAt }) =>
          transaction.accounts[0] === RESERVE && !failed && droppedAt === Number.POSITIVE_INFINITY,
      )
      .map((entry) => ({ entry, order: effectsOf(entry.transaction) }));

  function compose(instance: Instance): Custodian {
    const net = <T>(label: string, ask: () => Promise<T>): Promise<T> =>
      instance.cross(label, async () => {
        await scheduler.sleep(netRandom.between(0, MOST_LATENCY_MS));
        return ask();
      });
    const within = <T>(work: Promise<T>, ms: number): Promise<T | undefined> =>
      Promise.race([work, scheduler.sleep(ms).then((): undefined => undefined)]);
    const asked = nodes.rpcOver(
      (label) => (ask) =>
        net(label, async () => {
          askNode(label);
          return ask();
        }),
    ).nodes;
    const mirror = createD1Mirror(d1.database as never);
    const solana = new SolanaView({
      nodes: asked,
      reserveAddress: RESERVE,
      now: wallClock,
      within,
      log: () => undefined,
    });
    return createCustodyFakes({
      chain: solana,
      mirror: {
        ...mirror,
        apply: (...batch) => net('d1.apply', () => mirror.apply(...batch)),
        mark: () => net('d1.mark', () => mirror.mark()),
      },
      signer: {
        address: RESERVE,
        sign: (message) => instance.cross('sign', async () => signatureOf(message)),
      },
      swap: {
        ...createSwapPorts(createFakeBridge()),
        reserveAddress: RESERVE,
        latestBlockhash: () => solana.latestBlockhash(),
        history: solana.history,
        transaction: (signature) => solana.transaction(signature),
      },
      limits: { ...LIMITS, floor: lamports(0n) },
      assemble: assembleTransaction,
      now: wallClock,
      randomId: () => String(random.next()),
      openCircuits: () => [],
      within,
      log: ({ level, event }) => {
        if (level === 'alarm') alarms.push(String(event));
      },
      ...p.modules({ net, nodes: asked, solana, now: wallClock }),
    }).start(instance.storage);
  }

  const host = createHost<Custodian>({
    scheduler,
    random: random.fork(),
    faults: () => FAULTS.host,
    wallClock,
    compose,
    beforeBoot: () => undefined,
    onError: (call, error) => {
      if (call !== 'call' || !p.callsFail) errors.push(`${call} threw ${String(error)}`);
    },
    trace: () => undefined,
  });

  /** A call at a given time, and its result; undefined if the instance was lost during the call. */
  function at<T>(
    time: number,
    ask: (custody: Custodian) => Promise<T>,
    hear: (answer: T | undefined) => void,
  ): void {
    scheduler.at(time, () => {
      void host.event('call', ask).then((outcome) => hear(outcome.ok ? outcome.value : undefined));
    });
  }

  const cron = (): void => {
    void host.event('wake', (custody) => custody.wake());
    scheduler.after(MINUTE, cron);
  };
  scheduler.after(MINUTE, cron);

  return {
    scheduler,
    random,
    chain,
    nodeCalls,
    host,
    errors,
    /** Names of the alarms, in their order. */
    alarms,
    landed,
    rowsOf,
    at,

    /** A call now, without a time limit; undefined if the instance was lost during the call. */
    async call<T>(ask: (custody: Custodian) => Promise<T>): Promise<T | undefined> {
      let value: T | undefined;
      let answered = false;
      at(scheduler.now(), ask, (answer) => {
        answered = true;
        value = answer;
      });
      await scheduler.run(scheduler.now() + 10 * MINUTE, () => answered);
      return value;
    },

    /** Advances the time to the next event. */
    async pass(ms: number): Promise<void> {
      let over = false;
      scheduler.after(ms, () => {
        over = true;
      });
      await scheduler.run(scheduler.now() + ms, () => over);
    },

    /** Opens an empty account for ASRY. */
    openAccount: (owner: string): void => openAccount(owner),
    /** Closes that account, as its owner may. */
    closeAccount: (owner: string): void => {
      const name = key.exists(ataOf(owner, ASRY));
      chain.endow(name, -chain.value(name));
    },
    /** Whether the account exists, as finalized blocks show it. */
    hasAccount,

    /** Pays the reserve as a third party. */
    credit(signature: string, amount: bigint): void {
      const from = wallet(900_006);
      chain.endow(key.lamports(from), amount + 5_000n);
      chain.add({
        signature,
        accounts: [from, RESERVE],
        signers: 1,
        fee: 5_000n,
        actions: [{ type: 'pay', from, to: RESERVE, lamports: amount }],
        memo: null,
        born: null,
        readable: true,
      });
    },

    /** Empties the custodian's storage, or restores it to `rows`. */
    loseJournal: (rows: Contents = []): void => host.restore(rows, 'lost'),
    remember: (): Contents => host.disk.contents(),

    /** The purpose for which a name was claimed. */
    consumerOf: (name: string): unknown =>
      host.disk.exec('SELECT purpose FROM claims WHERE name = ?', [name])[0]?.purpose,

    release: () => host.release(),
  };
}
