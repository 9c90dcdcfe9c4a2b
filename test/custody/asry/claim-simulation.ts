/**
 * The production custodian with its claim desk over the simulator's models: virtual time, a chain with forks and lost
 * sends, nodes that lag and fail, a platform that crashes and replaces instances at any await, D1 that loses answers.
 */

import { encodeBase58, isOnCurve } from '../../../src/chain/solana/address.ts';
import { type DepositTransaction, depositTerms } from '../../../src/chain/solana/deposit.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import type { ClaimAnswer, ClaimRequest, OpsCommand } from '../../../src/custody/api.ts';
import { type Claim, decodeRow, type Payout } from '../../../src/custody/asry/asry-store.ts';
import type { AsryProgram } from '../../../src/custody/asry/epochs.ts';
import { type Custody, createCustodian } from '../../../src/custody/custodian.ts';
import { createD1Mirror } from '../../../src/custody/kernel/outbox.ts';
import type { SqlRow } from '../../../src/custody/kernel/ports.ts';
import { createSolanaView } from '../../../src/custody/kernel/solana-view.ts';
import type { ChainTransaction, SignatureEntry, SolanaNode } from '../../../src/providers/solana-rpc.ts';
import { createD1Model } from '../../simulator/d1-model.ts';
import type { Contents } from '../../simulator/disk.ts';
import { createHost, type Instance } from '../../simulator/host.ts';
import { loadProduction, OWN_SOURCE } from '../../simulator/production.ts';
import { createRandom, type Random } from '../../simulator/random.ts';
import { createScheduler } from '../../simulator/scheduler.ts';
import { type ChainEntry, createChainModel } from '../chain-model.ts';
import { LIMITS } from '../limits.ts';
import { assemble, payoutMessage, signatureOf } from '../message-reader.ts';
import { createNodeModel } from '../node-model.ts';
import { nameReceiver, type PayoutOrder, readPayout } from './payout-message.ts';

const START = 1_800_000_000_000;
const DAY_SECONDS = 86_400;
const MINUTE = 60_000;
/** Lamports that keep a token account. */
const ACCOUNT_RENT = 2_039_280n;
const production = await loadProduction(OWN_SOURCE);

/** Addresses of wallets, different for every number. */
export function wallet(number: number): string {
  const bytes = new Uint8Array(32).fill(11);
  new DataView(bytes.buffer).setUint32(0, number);
  for (let last = 0; ; last += 1) {
    bytes[31] = last % 128;
    bytes[30] = last >> 7;
    const address = encodeBase58(bytes);
    if (isOnCurve(address)) return address;
  }
}

export const depositSignature = (number: number): string => {
  const bytes = new Uint8Array(64).fill(3);
  new DataView(bytes.buffer).setUint32(0, number);
  return encodeBase58(bytes);
};

const RESERVE = wallet(900_001);
const TREASURY = wallet(900_002);
const MINTS = { USDC: wallet(900_003), USDT: wallet(900_004) };
const ASRY = wallet(900_005);
export const terms = depositTerms({
  treasury: TREASURY,
  reserve: RESERVE,
  mints: MINTS,
  heldSenders: new Set(),
});

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
  cap: 10n ** 15n,
  depth: 90_000n * 10n ** 6n,
  price: null,
  decimals: 9,
  minimumDeposit: 1_000_000n,
  maxAgeSeconds: 90 * DAY_SECONDS,
  rentBudget: 10n ** 12n,
  disabled: false,
};

export type SimulationOptions = {
  readonly seed: number;
  readonly deposits: readonly SimulatedDeposit[];
  readonly program?: Partial<AsryProgram>;
  /** Senders whose ASRY account exists from the start. */
  readonly opened?: (sender: string) => boolean;
  readonly crashes: number;
  readonly replacements: number;
  /** Whether chain, nodes and D1 misbehave as well. */
  readonly wild: boolean;
  /** What a node shows of a deposit where that is not what it is; throws when it fails. */
  readonly see?: (node: number, signature: string) => DepositTransaction | null | undefined;
  /** ASRY and SOL of the reserve before it paid anything. */
  readonly reserveAtoms?: () => bigint;
  readonly startLamports?: bigint;
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

/** What a run may do to the world. Calm: nothing. */
function faultsOf(random: Random, options: SimulationOptions) {
  const wild = options.wild ? 1 : 0;
  const crashing = random.pick([0.002, 0.01, 0.05]);
  return {
    sends: {
      dropped: wild * random.pick([0, 0.1, 0.4]),
      late: wild * random.pick([0, 0.2]),
      failing: wild * random.pick([0, 0.05]),
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
      failing: wild * random.pick([0, 0.02]),
      outageMs: 2_000,
      lostAnswers: wild * random.pick([0, 0.1]),
      lateCommits: 0,
    },
    host: {
      crash: crashing,
      replace: crashing,
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
  host: {
    crash: 0,
    replace: 0,
    flush: 1,
    alarmLost: 0,
    alarmRepeated: 0,
    alarmLateMs: 0,
    alarmRetried: 1,
  },
  latencyMs: 1,
};

export type Simulation = ReturnType<typeof createAsrySimulation>;

export function createAsrySimulation(options: SimulationOptions) {
  const random = createRandom(options.seed ^ 0x0a5e7);
  const scheduler = createScheduler();
  const wild = faultsOf(random.fork(), options);
  let faults = wild;
  const wallClock = () => START + scheduler.now();
  const errors: string[] = [];
  let reconfigured: Partial<AsryProgram> = {};
  const orders = new Map<string, PayoutOrder>();
  const opened = new Set<string>();
  for (const { sender } of options.deposits) nameReceiver(sender, ASRY);
  const deposits = new Map(options.deposits.map((deposit) => [deposit.signature, transactionOf(deposit)]));

  const chain = createChainModel({
    scheduler,
    random: random.fork(),
    slotMs: 100,
    startLamports: options.startLamports ?? 100_000_000_000n,
    fates: () => ({ ...faults.sends, ...(options.failing ? { failing: options.failing() } : {}) }),
    onLanding: () => undefined,
    onDropped: () => undefined,
    onFinal: (entry) => {
      const order = orders.get(entry.signature);
      if (order && !entry.failed) opened.add(order.receiver);
    },
    onUncovered: (signature) => errors.push(`${signature} is not covered`),
  });
  const d1 = createD1Model({
    scheduler,
    random: random.fork(),
    schema: production.schema,
    faults: () => CALM.d1,
  });
  /** As much of D1's statement as is read here. */
  const ask = (sql: string) => d1.database.prepare(sql) as never as { all(): Promise<{ results: SqlRow[] }> };
  // The model's database serves every run of the process.
  void ask('DELETE FROM asry_claims').all();
  void ask('DELETE FROM asry_epochs').all();
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

  /** Payouts that stand on the chain, the failed ones left out. */
  const landed = (): { entry: ChainEntry; order: PayoutOrder }[] =>
    chain.entries.flatMap((entry) => {
      const order = orders.get(entry.signature);
      const stands = order && !entry.failed && entry.droppedAt === Number.POSITIVE_INFINITY;
      return stands ? [{ entry, order }] : [];
    });

  const hasAccount = (owner: string): boolean => opened.has(owner) || (options.opened ?? (() => true))(owner);

  /** As a node lists it. */
  const withMemo = (entry: SignatureEntry): SignatureEntry => {
    const memo = orders.get(entry.signature)?.memo;
    return memo === undefined ? entry : { ...entry, memo: `[${memo.length}] ${memo}` };
  };

  /** With the tokens that it moved, of which the lamports model knows nothing. */
  const withTokens = (transaction: ChainTransaction | null): ChainTransaction | null => {
    const order = transaction && orders.get(transaction.signature);
    if (!order || !transaction) return transaction;
    const row = (atoms: bigint) => ({
      account: findAta(RESERVE, ASRY, TOKEN_PROGRAM),
      mint: ASRY,
      owner: RESERVE,
      program: TOKEN_PROGRAM,
      atoms,
      decimals: 9,
    });
    return { ...transaction, preTokens: [row(order.atoms)], postTokens: [row(0n)] };
  };

  function boot(instance: Instance): Custody {
    const net = <T>(label: string, ask: () => Promise<T>): Promise<T> =>
      instance.cross(label, async () => {
        await scheduler.sleep(netRandom.between(0, faults.latencyMs));
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
            net('transaction', async () => withTokens(await node.transaction(signature))),
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
    const { latestBlockhash } = solana;
    return createCustodian(instance.storage, {
      chain: solana,
      mirror: {
        ...mirror,
        apply: (rows) => net('d1.apply', () => mirror.apply(rows)),
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
        latestBlockhash,
        bitcoinViews: async () => [],
        history: solana.history,
        transaction: solana.transaction,
      },
      asry: {
        reserveAddress: RESERVE,
        mint: ASRY,
        terms,
        program: { ...PROGRAM, ...options.program, ...reconfigured },
        transaction: createSolanaView({
          nodes: asked.map((node, index) => ({
            ...node,
            transaction: (signature) =>
              net(`deposit@${index}`, async () => {
                if (netRandom.chance(faults.nodes.failing)) throw new Error('node is down');
                const shown = options.see?.(index, signature);
                return asChainTransaction(shown === undefined ? (deposits.get(signature) ?? null) : shown);
              }),
          })),
          reserveAddress: RESERVE,
          now: wallClock,
          log: () => undefined,
        }).transaction,
        readPayees: (receivers) =>
          net('payees', async () => {
            if (netRandom.chance(faults.nodes.failing)) throw new Error('node is down');
            const sent = landed().reduce((sum, { order }) => sum + order.atoms, 0n);
            return receivers.map((receiver) => ({
              program: TOKEN_PROGRAM,
              decimals: 9,
              accountOwner: hasAccount(receiver) ? receiver : null,
              reserveAtoms: (options.reserveAtoms?.() ?? 10n ** 18n) - sent,
            }));
          }),
        latestBlockhash,
      },
      limits: { ...LIMITS, floor: lamports(0n) },
      swapsDisabled: false,
      maxCreatesPerClientHour: 6,
      assemble: (message, signature) => {
        // The chain model reads a line of text; what the real bytes order is kept beside it.
        const order = readPayout(message);
        const text = payoutMessage({
          id: order.memo,
          to: order.receiver,
          lamports: order.createsAccount && !hasAccount(order.receiver) ? ACCOUNT_RENT : 0n,
          blockhash: order.blockhash,
        });
        const { signature: id } = assemble(message, signature);
        orders.set(id, order);
        return { signature: id, wire: assemble(text, signature).wire.replace(/^[^.]*/, id) };
      },
      now: wallClock,
      randomId: () => String(random.next()),
      within: (work, ms) => Promise.race([work, scheduler.sleep(ms).then((): undefined => undefined)]),
      log: () => undefined,
    });
  }

  const host = createHost<Custody>({
    scheduler,
    random: random.fork(),
    faults: () => faults.host,
    wallClock,
    boot,
    beforeBoot: () => undefined,
    onError: (call, error) => errors.push(`${call} threw ${String(error)}`),
    trace: () => undefined,
  });
  host.allow(options);

  const rows = <T>(table: string, order: string): T[] =>
    host.disk
      .exec(`SELECT row FROM ${table} ORDER BY ${order}`, [])
      .map((row) => decodeRow<T>(String(row.row)));

  /** A call now, with as much time as it takes; undefined when the instance was lost under it. */
  async function call<T>(ask: (custody: Custody) => Promise<T>): Promise<T | undefined> {
    let value: T | undefined;
    let answered = false;
    void host.event('call', ask).then((outcome) => {
      answered = true;
      if (outcome.ok) value = outcome.value;
    });
    await scheduler.run(scheduler.now() + 10 * MINUTE, () => answered);
    return value;
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
    host,
    errors,
    landed,
    opened,
    claims: (): Claim[] => rows<Claim>('asry_claims', 'seq'),
    payouts: (): Payout[] => rows<Payout>('asry_payouts', 'signature, part'),
    epochs: () =>
      rows<{ number: number; deposits: bigint; paid: bigint; claims: number }>('asry_epochs', 'number'),

    /** D1's rows, by id. */
    mirrored: async () => (await ask('SELECT id, journal FROM asry_claims ORDER BY id').all()).results,

    /** A claim at a time; what becomes of it. A caller whose call is lost does not ask again. */
    claimAt(
      time: number,
      request: Partial<ClaimRequest> & { signature: string },
      hear: (answer: ClaimAnswer | undefined) => void,
    ): void {
      scheduler.at(time, () => {
        const asked = { asset: 'USDC' as const, skipReward: false, client: 'ip', ...request };
        void host
          .event('claim', (custody) => custody.claimDeposit(asked))
          .then((outcome) => hear(outcome.ok ? outcome.value : undefined));
      });
    },

    /** A claim now, and its answer. */
    ask: (request: Partial<ClaimRequest> & { signature: string }): Promise<ClaimAnswer | undefined> =>
      call((custody) => custody.claimDeposit({ asset: 'USDC', skipReward: false, client: 'ip', ...request })),

    /** Runs to a time with the faults, then without them until everything is at rest. */
    async play(until: number): Promise<void> {
      await scheduler.run(until, () => false);
      faults = CALM;
      host.restart('calm');
      void host.event('wake', (custody) => custody.wake());
      let resting = false;
      const look = (): void => {
        const open = rows<Payout>('asry_payouts', 'signature').some(({ state }) => state !== 'paid');
        const waiting = host.disk.exec('SELECT COUNT(*) AS n FROM outbox', [])[0]?.n;
        resting = !open && waiting === 0;
        if (!resting) scheduler.after(5_000, look);
      };
      scheduler.after(5_000, look);
      await scheduler.run(until + 48 * 60 * MINUTE, () => resting);
      if (!resting) errors.push('not everything came to rest');
    },

    /** The custodian's storage is emptied, or set back to what `rows` were. */
    loseJournal: (rows: Contents = []): void => host.restore(rows, 'lost'),
    remember: (): Contents => host.disk.contents(),

    /** D1 has never heard of these. */
    forget: (signature: string): Promise<unknown> =>
      Promise.all([
        ask(`DELETE FROM asry_claims WHERE id = '${signature}'`).all(),
        ask(`DELETE FROM operations WHERE id LIKE 'asry:${signature}:%'`).all(),
      ]),

    /** Another deployment, with these parameters instead of the first. */
    reconfigure(program: Partial<AsryProgram>): void {
      reconfigured = program;
      host.restart('another configuration');
    },

    /** The purpose that a name serves. */
    consumerOf: (name: string): unknown =>
      host.disk.exec('SELECT purpose FROM claims WHERE name = ?', [name])[0]?.purpose,

    /** Takes a name for something else, as another flow would. False when it is taken. */
    take(name: string, purpose: string): boolean {
      host.disk.exec(
        'INSERT INTO claims (name, purpose, claimed_at) VALUES (?, ?, 0) ON CONFLICT DO NOTHING',
        [name, purpose],
      );
      return host.disk.exec('SELECT purpose FROM claims WHERE name = ?', [name])[0]?.purpose === purpose;
    },

    /** Lets time go by. */
    pass: (ms: number) => scheduler.run(scheduler.now() + ms, () => false),

    ops: (command: OpsCommand) => call((custody) => custody.ops(command)),
    epochViews: () => call((custody) => custody.listAsryEpochs(100)),

    release: () => host.release(),
  };
}

/** A deposit as a node gives it; its lamports play no part. */
const asChainTransaction = (deposit: DepositTransaction | null): ChainTransaction | null =>
  deposit && {
    ...deposit,
    fee: 5_000n,
    accounts: deposit.signers,
    preLamports: deposit.signers.map(() => 0n),
    postLamports: deposit.signers.map(() => 0n),
    preTokens: deposit.preTokens?.map((row) => ({ ...row, decimals: 6 })) ?? null,
    postTokens: deposit.postTokens?.map((row) => ({ ...row, decimals: 6 })) ?? null,
  };
