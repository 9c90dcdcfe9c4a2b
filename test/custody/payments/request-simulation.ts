/**
 * The production custodian with its payment and claim desks over the simulator's models: virtual time, a platform that
 * crashes and replaces instances at any await, a chain that drops and delays sends, D1 that loses answers.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import { depositTerms } from '../../../src/chain/solana/deposit.ts';
import { findAta } from '../../../src/chain/solana/token-instructions.ts';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import type { OpsAnswer, RequestView } from '../../../src/custody/api.ts';
import { type Custody, createCustodian } from '../../../src/custody/custodian.ts';
import { createD1Mirror } from '../../../src/custody/kernel/outbox.ts';
import { createSolanaView } from '../../../src/custody/kernel/solana-view.ts';
import { createRefundSearch } from '../../../src/custody/payments/refund-search.ts';
import type { PaymentRequest, RefundDue } from '../../../src/custody/payments/request-store.ts';
import { createTokenKind } from '../../../src/custody/tokens/creation-operation.ts';
import type { ChainTransaction, SignatureEntry, SolanaNode } from '../../../src/providers/solana-rpc.ts';
import { createD1Model } from '../../simulator/d1-model.ts';
import type { Contents } from '../../simulator/disk.ts';
import { createHost, type Instance } from '../../simulator/host.ts';
import { loadProduction, OWN_SOURCE } from '../../simulator/production.ts';
import { createRandom, type Random } from '../../simulator/random.ts';
import { createScheduler } from '../../simulator/scheduler.ts';
import { depositSignature, PROGRAM, wallet } from '../asry/claim-simulation.ts';
import { createChainModel } from '../chain-model.ts';
import { LIMITS } from '../limits.ts';
import { assemble, signatureOf } from '../message-reader.ts';
import { createNodeModel } from '../node-model.ts';
import { CREATION_RENT, type Order, orderLine, readOrder } from './request-orders.ts';

const START = 1_800_000_000_000;
const MINUTE = 60_000;
const SLOT_MS = 100;
const FINAL_MS = 33 * SLOT_MS;
const production = await loadProduction(OWN_SOURCE);

const RESERVE = wallet(900_001);
export const TREASURY = wallet(900_002);
const MINTS = { USDC: wallet(900_003), USDT: wallet(900_004) };
const ASRY = wallet(900_005);
const terms = depositTerms({ treasury: TREASURY, reserve: RESERVE, mints: MINTS, heldSenders: new Set() });

/** A payment to the treasury as it lands. */
export type Incoming = {
  readonly payer: string;
  readonly lamports: bigint;
  readonly references?: readonly string[];
  /** Atoms of a deposit of USDC in the same transaction. */
  readonly usdc?: bigint;
};

export type RequestSimulationOptions = {
  readonly seed: number;
  readonly crashes: number;
  readonly replacements: number;
  /** Whether chain, nodes and D1 misbehave as well. */
  readonly wild: boolean;
};

function faultsOf(random: Random, wildly: boolean) {
  const wild = wildly ? 1 : 0;
  const crashing = random.pick([0.005, 0.02, 0.08]);
  return {
    sends: {
      dropped: wild * random.pick([0, 0.1, 0.4]),
      late: wild * random.pick([0, 0.2]),
      failing: wild * random.pick([0, 0.05, 0.3]),
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
      lostAnswers: wild * random.pick([0.1, 0.5]),
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

const CALM: ReturnType<typeof faultsOf> = {
  sends: { dropped: 0, late: 0, failing: 0, forked: 0, hidden: 0, returning: 1 },
  nodes: { failing: 0, shifting: 1, lags: [0], balanced: false, lostAnswers: 0 },
  d1: { failing: 0, outageMs: 0, lostAnswers: 0, lateCommits: 0 },
  host: { crash: 0, replace: 0, flush: 1, alarmLost: 0, alarmRepeated: 0, alarmLateMs: 0, alarmRetried: 1 },
  latencyMs: 1,
};

const MIRRORED = [
  'invoices',
  'listings',
  'tokens',
  'tokens_text',
  'tokens_short',
  'refunds',
  'asry_claims',
  'asry_epochs',
];

export type RequestSimulation = ReturnType<typeof createRequestSimulation>;

export function createRequestSimulation(options: RequestSimulationOptions) {
  const random = createRandom(options.seed ^ 0x7e57);
  const scheduler = createScheduler();
  let faults = faultsOf(random.fork(), options.wild);
  const wallClock = () => START + scheduler.now();
  const errors: string[] = [];
  const orders = new Map<string, Order>();
  const incoming: { at: number; transaction: ChainTransaction }[] = [];

  const chain = createChainModel({
    scheduler,
    random: random.fork(),
    slotMs: SLOT_MS,
    startLamports: 100_000_000_000n,
    fates: () => faults.sends,
    onLanding: () => undefined,
    onDropped: () => undefined,
    onFinal: () => undefined,
    onUncovered: (signature) => errors.push(`${signature} is not covered`),
  });
  const d1 = createD1Model({
    scheduler,
    random: random.fork(),
    schema: production.schema,
    faults: () => faults.d1,
  });
  const rowsOf = (sql: string) =>
    (d1.database.prepare(sql) as never as { all(): Promise<{ results: Record<string, unknown>[] }> }).all();
  /** Whatever is wrong with D1 at the moment. */
  async function forget(where: string): Promise<void> {
    const kept = faults;
    faults = CALM;
    await rowsOf(`DELETE FROM ${where}`);
    faults = kept;
  }
  /** The model's database serves every run of the process. */
  const ready = (async () => {
    for (const table of MIRRORED) await forget(table);
  })();
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

  /** What stands on the chain of what the reserve has signed. */
  const landed = () =>
    chain.entries.flatMap((entry) => {
      const order = orders.get(entry.signature);
      return order && !entry.failed && entry.droppedAt === Number.POSITIVE_INFINITY ? [{ entry, order }] : [];
    });

  const withMemo = (entry: SignatureEntry): SignatureEntry => {
    const memo = orders.get(entry.signature)?.memo;
    return memo === undefined ? entry : { ...entry, memo: `[${memo.length}] ${memo}` };
  };

  const final = () =>
    incoming.filter(({ at }) => at + FINAL_MS <= scheduler.now()).toSorted((a, b) => b.at - a.at);

  const received = (signature: string): ChainTransaction | null =>
    final().find(({ transaction }) => transaction.signature === signature)?.transaction ?? null;

  let made = 0;

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
          transaction: (signature) => net('transaction', () => node.transaction(signature)),
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
      payments: {
        treasuryAddress: TREASURY,
        reserveAddress: RESERVE,
        heldPayers: new Set(),
        balanceOf: (address) => flaky('balanceOf', () => BigInt(address.length)),
        leastBalance: async () => 0n,
        findPaid: createRefundSearch(
          { ...solana, transaction: async (text) => received(text) ?? solana.transaction(text) },
          RESERVE,
        ),
        nodes: asked.map((node, index) => ({
          name: node.name,
          firstAvailableBlock: async () => 0n,
          signatures: (address, { limit, before }) =>
            flaky(`payments@${index}`, () => {
              const list = final()
                .filter(({ transaction }) => transaction.accounts.includes(address))
                .map(({ transaction: { signature, slot, blockTime } }) => ({
                  signature,
                  slot,
                  err: null,
                  blockTime,
                }));
              const from = list.findIndex(({ signature }) => signature === before) + 1;
              return list.slice(from, from + limit);
            }),
        })),
        transaction: (signature) => flaky('payment', () => received(signature)),
        randomBytes: (length) => Uint8Array.from({ length }, () => random.between(0, 255)),
        randomId: () => `request-${options.seed}-${++made}`,
        mintAddress: (id) => encodeBase58(sha256(utf8ToBytes(id))),
        metadataUri: (mint) => `https://sluice.test/${mint}`,
        creationCost: () => CREATION_RENT + 20_000n,
      },
      kinds: {
        token: createTokenKind({
          reserveAddress: RESERVE,
          signMint: () => new Uint8Array(64),
          rentExemption: async () => 1_000_000n,
          latestBlockhash,
          findMint: (address) =>
            flaky('findMint', () => {
              const found = landed().find(
                ({ entry, order }) => order.intent === `mint:${address}` && entry.slot <= chain.tip() - 32,
              );
              return found ? { owner: TOKEN_PROGRAM, supply: 1n, decimals: 9 } : null;
            }),
        }),
      },
      asry: {
        reserveAddress: RESERVE,
        mint: ASRY,
        terms,
        program: PROGRAM,
        transaction: (signature) => flaky('deposit', () => received(signature)),
        readPayees: (receivers) =>
          flaky('payees', () =>
            receivers.map((receiver) => ({
              program: TOKEN_PROGRAM,
              decimals: 9,
              accountOwner: receiver,
              reserveAtoms: 10n ** 18n,
            })),
          ),
        latestBlockhash,
      },
      limits: { ...LIMITS, floor: lamports(0n) },
      swapsDisabled: false,
      maxCreatesPerClientHour: 6,
      assemble: (message, signature) => {
        // The chain model reads a line of text; what the real bytes order is kept beside it.
        const order = readOrder(message);
        const { signature: id } = assemble(message, signature);
        orders.set(id, order);
        return { signature: id, wire: assemble(orderLine(order), signature).wire.replace(/^[^.]*/, id) };
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
    // A call may say that the journal could not be verified; an alarm may not.
    onError: (call, error) => (call === 'call' ? undefined : errors.push(`${call} threw ${String(error)}`)),
    trace: () => undefined,
  });
  host.allow(options);

  const stored = <T>(table: string): T[] =>
    host.disk
      .exec(`SELECT row FROM ${table} ORDER BY rowid`, [])
      .map((row) => JSON.parse(String(row.row)) as T);
  const requests = () => stored<PaymentRequest>('requests');
  const refunds = () => stored<RefundDue>('refunds');

  /** A call at a time, and what it answers; undefined when the instance was lost under it. */
  function at<T>(time: number, ask: (custody: Custody) => Promise<T>, hear: (answer: T | undefined) => void) {
    scheduler.at(time, () => {
      void host.event('call', ask).then((outcome) => hear(outcome.ok ? outcome.value : undefined));
    });
  }

  /** A call now, with as much time as it takes. */
  async function call<T>(ask: (custody: Custody) => Promise<T>): Promise<T | undefined> {
    let value: T | undefined;
    let answered = false;
    at(scheduler.now(), ask, (answer) => {
      answered = true;
      value = answer;
    });
    await scheduler.run(scheduler.now() + 10 * MINUTE, () => answered);
    return value;
  }

  /** Lets time go by; it stands still where nothing happens. */
  async function pass(ms: number): Promise<void> {
    let over = false;
    scheduler.after(ms, () => {
      over = true;
    });
    await scheduler.run(scheduler.now() + ms, () => over);
  }

  const cron = (): void => {
    void host.event('wake', (custody) => custody.wake());
    scheduler.after(MINUTE, cron);
  };
  scheduler.after(MINUTE, cron);

  const subject = (mint: string) => ({
    program: 'token',
    metaplex: false,
    name: 'Moon',
    symbol: 'MOON',
    uri: 'https://sluice.test/',
    decimals: 9,
    supply: '1',
    creator: wallet(7),
    revokeMint: true,
    revokeFreeze: false,
    revokeUpdate: false,
    ...(mint === '' ? {} : { mint }),
  });

  const isQuiet = (): boolean =>
    requests().every(({ state }) => state !== 'paid') &&
    refunds().every(({ state }) => state !== 'begun') &&
    stored<{ state: string }>('asry_payouts').every(({ state }) => state === 'paid') &&
    host.disk.exec('SELECT COUNT(*) AS n FROM outbox', [])[0]?.n === 0;

  return {
    ready,
    scheduler,
    random,
    host,
    errors,
    landed,
    requests,
    refunds,
    at,
    call,

    /** A request, asked for until it is there: what its caller was told may be lost. */
    async open(kind: 'token' | 'listing', baseFeeLamports = 20_000_000n): Promise<RequestView> {
      for (let tries = 0; tries < 200; tries++) {
        const mint = kind === 'listing' ? encodeBase58(sha256(utf8ToBytes(`foreign ${random.next()}`))) : '';
        const asked = { kind, subject: subject(mint), baseFeeLamports, client: `ip-${++made}` };
        const opened = await call((custody) => custody.openRequest(asked));
        if (opened?.type === 'opened') return opened.request;
        await pass(1_000);
      }
      throw new Error('no request could be opened');
    },

    /** A payment that lands now. */
    pay({ payer, lamports: amount, references = [], usdc = 0n }: Incoming): string {
      const signature = depositSignature(options.seed * 100 + incoming.length);
      const token = (owner: string, atoms: bigint) => ({
        account: owner === TREASURY ? terms.accounts.USDC : findAta(owner, MINTS.USDC, TOKEN_PROGRAM),
        mint: MINTS.USDC,
        owner,
        program: TOKEN_PROGRAM,
        atoms,
        decimals: 6,
      });
      const rich = 10n ** 13n;
      const transaction: ChainTransaction = {
        signature,
        slot: BigInt(chain.tip()),
        blockTime: Math.floor(wallClock() / 1_000),
        failed: false,
        fee: 5_000n,
        accounts: [payer, TREASURY, ...references],
        signers: [payer],
        preLamports: [rich, rich, ...references.map(() => 0n)],
        postLamports: [rich - amount - 5_000n, rich + amount, ...references.map(() => 0n)],
        preTokens: usdc === 0n ? [] : [token(payer, usdc), token(TREASURY, 0n)],
        postTokens: usdc === 0n ? [] : [token(payer, 0n), token(TREASURY, usdc)],
      };
      incoming.push({ at: scheduler.now(), transaction });
      return signature;
    },

    /** Runs to a time with the faults, then without them until nothing moves any more. */
    async play(until: number): Promise<void> {
      await scheduler.run(until, () => false);
      faults = CALM;
      host.restart('calm');
      void host.event('wake', (custody) => custody.wake());
      let resting = false;
      const look = (): void => {
        resting = isQuiet();
        if (!resting) scheduler.after(5_000, look);
      };
      scheduler.after(10_000, look);
      await scheduler.run(until + 24 * 60 * MINUTE, () => resting);
      if (!resting) errors.push('not everything came to rest');
    },

    /** The custodian's storage is emptied, or set back to what `rows` were. */
    loseJournal: (rows: Contents = []): void => host.restore(rows, 'lost'),
    remember: (): Contents => host.disk.contents(),
    /** D1's rows of a table. */
    mirrored: async (table: string) => (await rowsOf(`SELECT * FROM ${table} ORDER BY id`)).results,
    /** What D1 has forgotten of a table. */
    forget,
    calm: (): void => {
      faults = CALM;
    },
    pass,
    refund: (id: string): Promise<OpsAnswer | undefined> =>
      call((custody) => custody.ops({ name: 'refund', id })),
    /** Asked for until it is done: right after the loss it is too early, and what the operator was told may be lost. */
    async reconcile(): Promise<OpsAnswer | undefined> {
      let answer: OpsAnswer | undefined;
      for (let tries = 0; tries < 50 && !answer?.ok; tries++) {
        if (tries > 0) await pass(MINUTE);
        answer = await call((custody) => custody.ops({ name: 'reconcile' }));
      }
      return answer;
    },
    consumerOf: (name: string): unknown =>
      host.disk.exec('SELECT purpose FROM claims WHERE name = ?', [name])[0]?.purpose,
    claims: () => stored<unknown>('asry_claims').length,
    release: () => host.release(),
  };
}
