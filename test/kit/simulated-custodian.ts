/**
 * The production custodian over the simulator's models: virtual time, a chain that forks and drops or delays sends,
 * nodes that lag and fail, a platform that crashes and replaces instances at any await, D1 that loses answers. A test
 * adds the modules that it is about.
 */
import { depositTerms } from '../../src/chain/solana/deposit.ts';
import { lamports } from '../../src/core/amount.ts';
import { type Custody, type CustodyDeps, createCustodian } from '../../src/custody/custodian.ts';
import { createD1Mirror } from '../../src/custody/kernel/outbox.ts';
import type { SqlRow } from '../../src/custody/kernel/ports.ts';
import { createSolanaView } from '../../src/custody/kernel/solana-view.ts';
import type { ChainTransaction, SignatureEntry, SolanaNode } from '../../src/providers/solana-rpc.ts';
import { type ChainEntry, createChainModel } from '../custody/chain-model.ts';
import { assemble, signatureOf } from '../custody/message-reader.ts';
import { createNodeModel } from '../custody/node-model.ts';
import { createD1Model } from '../simulator/d1-model.ts';
import type { Contents } from '../simulator/disk.ts';
import { createHost, type Instance } from '../simulator/host.ts';
import { loadProduction, OWN_SOURCE } from '../simulator/production.ts';
import { createRandom, type Random } from '../simulator/random.ts';
import { createScheduler } from '../simulator/scheduler.ts';
import { wallet } from './addresses.ts';
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

/** Chances of which a run picks one each. */
type Rates = {
  readonly crashing: readonly number[];
  readonly failingSends: readonly number[];
  /** Absent where D1 is always well. */
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
  readonly solana: ReturnType<typeof createSolanaView>;
  readonly now: () => number;
};

export type SimulatedCustodian<Order extends { readonly memo: string | undefined }> = ReturnType<
  typeof simulateCustodian<Order>
>;

export function simulateCustodian<Order extends { readonly memo: string | undefined }>(p: {
  readonly options: RunOptions;
  /** Distinguishes its runs from those of other tests with the same seed. */
  readonly salt: number;
  readonly rates: Rates;
  readonly startLamports?: bigint;
  /** Whether a send fails on the chain, where the rates do not say it. */
  readonly failing?: (() => number) | undefined;
  readonly onFinal?: (entry: ChainEntry) => void;
  /** The effect of a message, decoded from its bytes. */
  readonly readOrder: (message: Uint8Array) => Order;
  /** The line of text that the chain model reads in place of those bytes. */
  readonly lineOf: (order: Order) => Uint8Array;
  /** A transaction of the reserve as a node shows it. */
  readonly shown?: (transaction: ChainTransaction, order: Order) => ChainTransaction;
  readonly modules: (reach: Reach) => Partial<CustodyDeps>;
  /** Whether nothing is under way in the tables of those modules. */
  readonly isQuiet: () => boolean;
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
  const orders = new Map<string, Order>();

  const chain = createChainModel({
    scheduler,
    random: random.fork(),
    slotMs: SLOT_MS,
    startLamports: p.startLamports ?? 100_000_000_000n,
    fates: () => ({ ...faults.sends, ...(p.failing && { failing: p.failing() }) }),
    onLanding: () => undefined,
    onDropped: () => undefined,
    onFinal: p.onFinal ?? (() => undefined),
    onUncovered: (signature) => errors.push(`${signature} is not covered`),
  });
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
  const nodeRandom = random.fork();
  const nodes = ['node-1', 'node-2'].map((name) =>
    createNodeModel({
      name,
      chain,
      random: nodeRandom.fork(),
      production,
      reserveAddress: RESERVE,
      retention: Number.POSITIVE_INFINITY,
      blockTime: (slot) => Math.floor((START + chain.timeOf(slot)) / 1_000),
      faults: () => faults.nodes,
    }),
  );
  const netRandom = random.fork();

  /** The successful reserve transactions on the chain. */
  const landed = () =>
    chain.entries.flatMap((entry) => {
      const order = orders.get(entry.signature);
      return order && !entry.failed && entry.droppedAt === Number.POSITIVE_INFINITY ? [{ entry, order }] : [];
    });

  const withMemo = (entry: SignatureEntry): SignatureEntry => {
    const memo = orders.get(entry.signature)?.memo;
    return memo === undefined ? entry : { ...entry, memo: `[${memo.length}] ${memo}` };
  };
  function shown(transaction: ChainTransaction | null): ChainTransaction | null {
    const order = transaction && orders.get(transaction.signature);
    return order && p.shown ? p.shown(transaction, order) : transaction;
  }

  function boot(instance: Instance): Custody {
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
    const bare = production.createSolanaRpc({
      urls: nodes.map(({ name }) => name),
      fetch: () => Promise.reject(new Error('not modelled')),
    });
    const asked = nodes.flatMap((node, index): SolanaNode[] => {
      const base = bare.nodes[index];
      if (!base) return [];
      return [
        {
          ...base,
          balance: (_address, _commitment, least) => net('balance', () => node.balance(least)),
          isBlockhashValid: (blockhash) => net('isBlockhashValid', () => node.isBlockhashValid(blockhash)),
          latestBlockhash: () => net('blockhash', () => node.latestBlockhash()),
          epochInfo: (commitment) => net('epochInfo', () => node.epochInfo(commitment)),
          signatureStatus: (signature) => net('status', () => node.signatureStatus(signature, true)),
          firstAvailableBlock: () => net('firstBlock', () => node.firstAvailableBlock()),
          send: (wire) => net('send', () => node.send(wire)),
          transaction: (signature) =>
            net('transaction', async () => shown(await node.transaction(signature))),
          signaturesFor: (_address, page) =>
            net('signatures', async () => (await node.signaturesFor(page)).map(withMemo)),
        },
      ];
    });
    const mirror = createD1Mirror(d1.database as never);
    const solana = createSolanaView({
      nodes: asked,
      reserveAddress: RESERVE,
      now: wallClock,
      log: () => undefined,
    });
    return createCustodian(instance.storage, {
      chain: solana,
      mirror: {
        ...mirror,
        apply: (...batch) => net('d1.apply', () => mirror.apply(...batch)),
        mark: () => net('d1.mark', () => mirror.mark()),
        highestRevision: () => net('d1.highest', () => mirror.highestRevision()),
      },
      signer: {
        address: RESERVE,
        sign: (message) => instance.cross('sign', async () => signatureOf(message)),
      },
      swap: {
        reserveAddress: RESERVE,
        bitcoinAddress: 'bc1qreserve',
        routes: [],
        maxCostBps: 200,
        readPrices: async () => [],
        latestBlockhash: solana.latestBlockhash,
        bitcoinViews: async () => [],
        history: solana.history,
        transaction: solana.transaction,
      },
      limits: { ...LIMITS, floor: lamports(0n) },
      swapsDisabled: false,
      maxCreatesPerClientHour: 6,
      assemble: (message, signature) => {
        // The chain model reads a line of text; the effect of the real bytes is stored with it.
        const order = p.readOrder(message);
        const { signature: id } = assemble(message, signature);
        orders.set(id, order);
        return { signature: id, wire: assemble(p.lineOf(order), signature).wire.replace(/^[^.]*/, id) };
      },
      now: wallClock,
      randomId: () => String(random.next()),
      within: (work, ms) => Promise.race([work, scheduler.sleep(ms).then((): undefined => undefined)]),
      log: ({ level, event }) => {
        if (level === 'alarm') alarms.push(String(event));
      },
      ...p.modules({ net, flaky, nodes: asked, solana, now: wallClock }),
    });
  }

  const host = createHost<Custody>({
    scheduler,
    random: random.fork(),
    faults: () => faults.host,
    wallClock,
    boot,
    beforeBoot: () => undefined,
    onError: (call, error) =>
      call === 'call' && p.callsFail ? undefined : errors.push(`${call} threw ${String(error)}`),
    trace: () => undefined,
  });
  host.allow(options);

  /** A call at a given time, and its result; undefined if the instance was lost during the call. */
  function at<T>(
    time: number,
    ask: (custody: Custody) => Promise<T>,
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
    host,
    errors,
    /** Names of the alarms, in their order. */
    alarms,
    landed,
    orderOf: (signature: string): Order | undefined => orders.get(signature),
    rowsOf,
    at,

    /** A call now, without a time limit; undefined if the instance was lost during the call. */
    async call<T>(ask: (custody: Custody) => Promise<T>): Promise<T | undefined> {
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

    /** Runs with faults until a time, then without them until nothing changes any more. */
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

    calm: (): void => {
      faults = CALM;
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
