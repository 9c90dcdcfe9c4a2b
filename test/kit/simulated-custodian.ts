/**
 * The custodian of the kit over the simulator's models: virtual time, a chain that forks and drops or delays sends,
 * nodes that lag and fail, a platform that crashes and replaces instances at any await, D1 that loses answers. A test
 * adds the modules that it is about.
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
import { createRandom, type Random } from '../simulator/random.ts';
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

export type RunOptions = {
  readonly seed: number;
  readonly crashes: number;
  readonly replacements: number;
  /** Whether chain, nodes and D1 misbehave as well. */
  readonly wild: boolean;
};

/** Probabilities, of which each run picks one. */
type Rates = {
  readonly crashing: readonly number[];
  readonly failingSends: readonly number[];
  /** Absent if D1 never fails. */
  readonly lostWrites?: readonly number[];
};

function faultsOf(random: Random, isWild: boolean, { crashing, failingSends, lostWrites }: Rates) {
  const wild = isWild ? 1 : 0;
  const ends = random.pick(crashing);
  return {
    sends: {
      dropped: wild * random.pick([0, 0.1, 0.4]),
      late: wild * random.pick([0, 0.2]),
      failing: wild * random.pick(failingSends),
      forked: wild * random.pick([0, 0.02]),
      hidden: 0,
      returning: 1,
    },
    nodes: {
      failing: wild * random.pick([0, 0.02]),
      shifting: wild * 0.1,
      lags: [0, 0, 1, 5, 30],
      balanced: false,
      lostAnswers: wild * random.pick([0, 0.1]),
    },
    d1: {
      failing: wild * random.pick([0, 0.02]) * (lostWrites ? 1 : 0),
      outageMs: 2_000,
      lostAnswers: wild * random.pick(lostWrites ?? [0, 0]),
      lateCommits: 0,
    },
    host: {
      crash: ends,
      replace: ends,
      flush: random.pick([0, 0.5, 1]),
      alarmLost: 0,
      alarmRepeated: wild * random.pick([0, 0.2]),
      alarmLateMs: 0,
      alarmRetried: 1,
    },
    latencyMs: random.pick([5, 50, 300]),
  };
}

const CALM = {
  sends: { dropped: 0, late: 0, failing: 0, forked: 0, hidden: 0, returning: 1 },
  nodes: { failing: 0, shifting: 1, lags: [0], balanced: false, lostAnswers: 0 },
  d1: { failing: 0, outageMs: 0, lostAnswers: 0, lateCommits: 0 },
  host: { crash: 0, replace: 0, flush: 1, alarmLost: 0, alarmRepeated: 0, alarmLateMs: 0, alarmRetried: 1 },
  latencyMs: 1,
};

/** The outside world as called by one instance of the custodian. */
export type Reach = {
  /** A call over the network. */
  readonly net: <T>(label: string, ask: () => Promise<T>) => Promise<T>;
  /** The same to a node that may be down. */
  readonly flaky: <T>(label: string, ask: () => T) => Promise<T>;
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
  readonly options: RunOptions;
  /** Distinguishes its runs from those of other tests with the same seed. */
  readonly salt: number;
  readonly rates: Rates;
  readonly startLamports?: bigint;
  /** Whether a send fails on the chain, where the rates do not say it. */
  readonly failing?: (() => number) | undefined;
  readonly modules: (reach: Reach) => Partial<CustodyDeps>;
  /** Whether nothing is under way in the tables of those modules. */
  readonly isQuiet: () => boolean;
  /** Calls that a node answers in a second; it refuses further ones. Unlimited if absent. */
  readonly nodeRate?: number;
  /** Whether a call may fail, because its caller receives the error. An alarm may not. */
  readonly callsFail?: boolean;
}) {
  const { options } = p;
  const random = createRandom(options.seed ^ p.salt);
  const scheduler = createScheduler();
  let faults = faultsOf(random.fork(), options.wild, p.rates);
  const wallClock = () => START + scheduler.now();
  const errors: string[] = [];
  const alarms: string[] = [];

  const chain = createLedger({
    scheduler,
    random: random.fork(),
    slotMs: SLOT_MS,
    fates: () => ({ ...faults.sends, ...(p.failing && { failing: p.failing() }) }),
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
    faults: () => faults.d1,
  });
  /** The current faults of D1; the model reads them at each call. */
  async function rowsOf(sql: string): Promise<SqlRow[]> {
    const kept = faults;
    faults = CALM;
    const statement = d1.database.prepare(sql) as never as { all(): Promise<{ results: SqlRow[] }> };
    const asked = statement.all();
    faults = kept;
    return (await asked).results;
  }
  const nodes = createNodes({
    ledger: chain,
    random: random.fork(),
    production,
    specs: [{ retention: Number.POSITIVE_INFINITY }, { retention: Number.POSITIVE_INFINITY }],
    lies: () => undefined,
    faults: () => faults.nodes,
    blockTime: (slot) => Math.floor((START + chain.timeOf(slot)) / 1_000),
    forged: [],
    onLie: () => undefined,
    onSend: () => undefined,
  });
  const netRandom = random.fork();
  /** Calls to the nodes since the last reading of this count, and those of each node in this second. */
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
        await scheduler.sleep(netRandom.between(0, faults.latencyMs));
        return ask();
      });
    const flaky = <T>(label: string, ask: () => T): Promise<T> =>
      net(label, async () => {
        if (netRandom.chance(faults.nodes.failing)) throw new Error('node is down');
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
      ...p.modules({ net, flaky, nodes: asked, solana, now: wallClock }),
    }).start(instance.storage);
  }

  const host = createHost<Custodian>({
    scheduler,
    random: random.fork(),
    faults: () => faults.host,
    wallClock,
    compose,
    beforeBoot: () => undefined,
    onError: (call, error) =>
      call === 'call' && p.callsFail ? undefined : errors.push(`${call} threw ${String(error)}`),
    trace: () => undefined,
  });
  host.allow(options);

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

  const isDelivered = (): boolean => host.disk.exec('SELECT COUNT(*) AS n FROM outbox', [])[0]?.n === 0;

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

    /** Runs with faults until a time, then without them until nothing changes. */
    async play(until: number): Promise<void> {
      await scheduler.run(until, () => false);
      faults = CALM;
      host.restart('calm');
      void host.event('wake', (custody) => custody.wake());
      let resting = false;
      const look = (): void => {
        resting = p.isQuiet() && isDelivered();
        if (!resting) scheduler.after(5_000, look);
      };
      scheduler.after(10_000, look);
      await scheduler.run(until + 48 * 60 * MINUTE, () => resting);
      if (!resting) errors.push('some work never ended');
    },

    /** An empty account for ASRY, from now on. */
    openAccount: (owner: string): void => openAccount(owner),
    /** The owner has closed that account. */
    closeAccount: (owner: string): void => {
      const name = key.exists(ataOf(owner, ASRY));
      chain.endow(name, -chain.value(name));
    },
    /** Whether the account exists, as finalized blocks show it. */
    hasAccount,

    /** A third party pays the reserve. */
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

    /** The purpose that a name serves. */
    consumerOf: (name: string): unknown =>
      host.disk.exec('SELECT purpose FROM claims WHERE name = ?', [name])[0]?.purpose,

    release: () => host.release(),
  };
}
