/**
 * Composes the models and passes them to the production composition of the custodian as its platform.
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { SwapRoute } from '../../src/bridges/route.ts';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { limitsOf } from '../../src/config.ts';
import type { LimitName } from '../../src/core/operation-limits.ts';
import { rewardsAt } from '../../src/custody/asry/epochs.ts';
import type { Custodian } from '../../src/custody/custodian.ts';
import type { CustodyDeps } from '../../src/custody/dependencies.ts';
import type { Log, Signer } from '../../src/custody/kernel/ports.ts';
import { MINT_CONFIRMATIONS } from '../../src/custody/reserve/reserve-views.ts';
import type { ChainTransaction, SolanaNode } from '../../src/providers/solana-rpc.ts';
import { wallet } from '../kit/addresses.ts';
import { createPriceBook, venueFetch } from '../world/price-venues.ts';
import { type Bitcoin, createBitcoin } from './bitcoin.ts';
import { type BridgeModel, createBridgeModel } from './bridge-model.ts';
import { createD1Model, type D1Model } from './d1-model.ts';
import type { Contents } from './disk.ts';
import type { Faults } from './faults.ts';
import { createHost, type Host, type Instance } from './host.ts';
import { createKeyService, isOfMessage } from './key-service.ts';
import { createLedger, key, type Ledger } from './ledger.ts';
import { createNodes } from './nodes.ts';
import type { Production } from './production.ts';
import { createRandom } from './random.ts';
import { createScarcity } from './scarcity.ts';
import type { Scenario } from './scenario.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import { signatureOf, type Transaction } from './transactions.ts';
import { createWitness, type Truth, type Witness } from './witness.ts';

export type Trace = (line: () => string) => void;

/** State that the run changes. */
export type State = {
  isCalm: boolean;
  /** Address of the reserve's current key. */
  reserve: string;
  /** Milliseconds by which the object's clock is ahead of the true time. */
  clockOffset: number;
  /** The journal was lost or restored. */
  isLost: boolean;
  wasLost: boolean;
  /** D1 was set back, so only the journal has the newest rows. */
  wasD1Restored: boolean;
  /** The earliest end of the run, because the operator has still to act. */
  calmUntil: number;
  /** The start of the time limit for paid work: the end of the faults, then the start of each awaited day. */
  dueFrom: number;
  /** Called when D1 has accepted a part of the rows that it had refused together. */
  onPart: () => void;
  remembered: { readonly rows: Contents; readonly revision: number } | undefined;
};

/** What a test changes in the world. */
export type WorldChange = {
  /** Called before each call of an upstream, which then waits for the result. It throws if the upstream refuses the call. */
  readonly onCall?: (label: string) => Promise<void> | undefined;
  readonly nodes?: (nodes: readonly SolanaNode[]) => SolanaNode[];
  readonly deps?: (deps: CustodyDeps) => CustodyDeps;
};

export type World = {
  readonly scenario: Scenario;
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly bridge: BridgeModel;
  readonly bitcoin: Bitcoin;
  readonly d1: D1Model;
  readonly host: Host<Custodian>;
  readonly witness: Witness;
  readonly truth: Truth;
  readonly forged: ChainTransaction[];
  readonly trace: Trace;
  readonly state: State;
  readonly addresses: typeof ADDRESSES & { readonly treasury: string };
  /** Counts events by name. */
  readonly happened: Readonly<Record<string, number>>;
  count(name: string): void;
  /** Lamports; payouts and creations are counted. */
  readonly limits: Readonly<Record<LimitName | 'swapFloor', bigint>>;
  /** Unix milliseconds of a slot. */
  blockTime(slot: number): number;
  signature(): string;
  /** The operator gives the new key SOL, ASRY and the mint authority, and deploys it. Once, and with its own treasury. */
  rotate(): void;
};

const secretKey = new Uint8Array(32).fill(7);
const publicKey = ed25519.getPublicKey(secretKey);
const RESERVE = encodeBase58(publicKey);
/** Address of the key after a rotation. */
const ROTATED = encodeBase58(ed25519.getPublicKey(new Uint8Array(32).fill(8)));

export const ADDRESSES = {
  reserve: RESERVE,
  asry: wallet(901),
  absr: wallet(902),
  USDC: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  USDT: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
  bitcoin: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
} as const;
export const OTHER_TREASURY = wallet(903);
export const ABSR_SCALE = 100n;
const START_SATS = 50_000n;

/** The curve of rewards: it gives a price, so that parts can be requested, and has a cap that no run reaches. */
export const CURVE = { cap: 1_000_000n * 10n ** 9n, depth: 90_000n * 10n ** 6n };

function environment({ caps, treasuryIsReserve }: Scenario): Record<string, string> {
  const sol = (whole: bigint): string => `${Number((whole * 10n) / caps.scale) / 10}`;
  return {
    PUBLIC_BASE_URL: 'https://sluice.test',
    RESERVE_SOLANA_ADDRESS: RESERVE,
    RESERVE_BTC_ADDRESS: ADDRESSES.bitcoin,
    TREASURY_SOLANA_ADDRESS: treasuryIsReserve ? RESERVE : OTHER_TREASURY,
    ABSR_MINT_ADDRESS: ADDRESSES.absr,
    ASRY_MINT_ADDRESS: ADDRESSES.asry,
    ASRY_PRICE_USD: '0.001',
    SWAP_MAX_SOL: sol(2n),
    SWAP_MAX_SOL_HOUR: sol(caps.hourSol),
    SWAP_MAX_SOL_DAY: sol(caps.daySol),
    SWAP_MAX_COST_SOL_DAY: caps.costSol,
    SWAP_MAX_UNSETTLED_SOL: sol(caps.unsettledSol),
    DAILY_LIMITS: `refunds_day=${caps.refundsSol},payouts_day=${caps.payouts},creations_day=${caps.creations}`,
  };
}

const mintAddresses = new Map<string, string>();
const MINT_KEYS = {
  address(id: string): string {
    const known = mintAddresses.get(id) ?? encodeBase58(sha256(new TextEncoder().encode(id)));
    mintAddresses.set(id, known);
    return known;
  },
  sign: (_id: string, message: Uint8Array) => signatureOf(message),
};

export function createWorld(
  scenario: Scenario,
  production: Production,
  trace: Trace,
  change: WorldChange = {},
): World {
  const random = createRandom(scenario.seed ^ 0x5bd1e995);
  const scheduler = createScheduler();
  const happened: Record<string, number> = {};
  const count = (name: string): void => {
    happened[name] = (happened[name] ?? 0) + 1;
  };
  const state: State = {
    isCalm: false,
    reserve: RESERVE,
    clockOffset: 0,
    isLost: false,
    wasLost: false,
    wasD1Restored: false,
    calmUntil: 0,
    dueFrom: scenario.calmAt,
    onPart: () => undefined,
    remembered: undefined,
  };
  const config = production.readConfig(environment(scenario));
  const treasury = scenario.treasuryIsReserve ? RESERVE : OTHER_TREASURY;
  const faults = (): Faults => (state.isCalm ? scenario.calm : scenario.wild);
  const wallClock = () => scenario.epoch + state.clockOffset + scheduler.now();
  const truth: Truth = { payments: new Map(), deposits: new Map(), invoices: new Map() };
  const forged: ChainTransaction[] = [];
  const short = (signature: string): string => signature.slice(0, 8);
  const blockTime = (slot: number): number => scenario.epoch + ledger.timeOf(slot);

  const limits = {
    ...limitsOf(config),
    swapFloor: config.RESERVE_FLOOR_SOL + config.OPERATING_FLOAT_SOL,
  };
  const witness: Witness = createWitness({
    ledger: () => ledger,
    bridge: () => bridge,
    truth,
    limits,
    reserves: [RESERVE, ROTATED],
    absr: {
      mint: ADDRESSES.absr,
      scale: ABSR_SCALE,
      cover: () => bitcoin.settled(MINT_CONFIRMATIONS),
    },
    blockTime,
    wallClock,
    bornAt: () => bornAt(host),
    bridgeLies: scenario.wild.bridge.fates.includes('untrue'),
  });

  const ledger: Ledger = createLedger({
    scheduler,
    random: random.fork(),
    slotMs: scenario.slotMs,
    fates: () => faults().sends,
    onLanding(entry) {
      trace(
        () =>
          `chain: ${short(entry.transaction.signature)} ${entry.isNoop ? 'is a no-op' : entry.failed ? 'fails' : 'lands'} in slot ${entry.slot}`,
      );
      if (witness.isOurs(entry))
        count(entry.isNoop ? 'no-ops' : entry.failed ? 'landings that failed' : 'landings');
      witness.landed(entry);
    },
    onDropped(entry) {
      count('transactions taken back by a fork');
      trace(() => `chain: a fork takes ${short(entry.transaction.signature)} out of slot ${entry.slot}`);
    },
    onUncovered: ({ signature, fee }, balance) =>
      witness.broken('covered', `${signature} costs a fee of ${fee}; the reserve has ${balance}`),
    onFinal(entry) {
      trace(() => `chain: ${short(entry.transaction.signature)} is final`);
      witness.final(entry);
      const pay = entry.transaction.actions.find((action) => action.type === 'pay');
      if (entry.failed || !pay) return;
      if (witness.isOurs(entry)) bridge.deposited(pay.to, pay.lamports);
      else bridge.refunded(entry.transaction.signature);
    },
  });
  ledger.endow(key.lamports(RESERVE), scenario.startLamports);
  ledger.mints.set(ADDRESSES.asry, { program: TOKEN_PROGRAM, decimals: 9, authority: null });
  ledger.mints.set(ADDRESSES.absr, { program: TOKEN_PROGRAM, decimals: 2, authority: RESERVE });
  for (const mint of [ADDRESSES.asry, ADDRESSES.absr]) ledger.endow(key.exists(mint), 1n);
  ledger.openAccount(RESERVE, ADDRESSES.asry, 10n ** 17n);
  for (const mint of [ADDRESSES.USDC, ADDRESSES.USDT]) ledger.openAccount(treasury, mint);

  const bitcoin = createBitcoin({
    scheduler,
    random: random.fork(),
    production,
    reserveAddress: ADDRESSES.bitcoin,
    timeOf: (virtual) => scenario.epoch + virtual,
    startSats: START_SATS,
    liar: scenario.seed % 2,
    faults: () => faults().bitcoin,
  });
  let made = 0;
  /** A signature that no other transaction has. */
  const signature = (): string => {
    const bytes = new Uint8Array(64).fill(3);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, Math.imul(++made, 0x9e3779b1) >>> 0);
    view.setUint32(4, scenario.seed);
    view.setUint32(8, made);
    return encodeBase58(bytes);
  };
  const bridge: BridgeModel = createBridgeModel({
    scheduler,
    random: random.fork(),
    production,
    bitcoin,
    bitcoinAddress: ADDRESSES.bitcoin,
    wallClock,
    signature,
    refund: (name, lamports, to) => ledger.transfer(name, { from: wallet(904), to, lamports }),
    faults: () => faults().bridge,
  });
  const d1 = createD1Model({
    scheduler,
    random: random.fork(),
    schema: production.schema,
    faults: () => faults().d1,
    onTooWide: () => count('batches that D1 refused for their size'),
    onPart: () => state.onPart(),
  });
  const nodes = createNodes({
    ledger,
    random: random.fork(),
    production,
    specs: scenario.nodes,
    lies: () => (state.isCalm ? undefined : scenario.lies),
    faults: () => faults().nodes,
    blockTime: (slot) => Math.floor(blockTime(slot) / 1_000),
    forged,
    onLie: (lie) => count(`lie: ${lie}`),
    onSend: ({ signature: sent }: Transaction) => witness.sending(sent),
  });
  const keyService = createKeyService({
    address: () => state.reserve,
    random: createRandom(scenario.seed ^ 0x6b657973),
    scheduler,
    rate: () => (state.isCalm ? 0 : 0.5),
    count,
  });
  const netRandom = random.fork();
  const idRandom = random.fork();
  const venues = production.createPriceVenues(
    { hyperliquid: 'https://hyperliquid', coinbase: 'https://coinbase' },
    venueFetch(createPriceBook({ BTC: '100000', SOL: '200' })),
  );
  // An earlier release may lack the budgets.
  const scarcity =
    scenario.nodeRate === undefined || production.previous !== undefined
      ? undefined
      : createScarcity({
          scheduler,
          production,
          wallClock,
          rate: scenario.nodeRate,
          onRefusal: (node) => count(`requests that ${node} refused for its rate`),
        });

  /**
   * A call over the network: it takes time in both directions, and the custodian may crash before the
   * response.
   */
  const network =
    (instance: Instance, label: string) =>
    <T>(ask: () => Promise<T>): Promise<T> =>
      instance.cross(label, async () => {
        const { latent, latencyMs } = faults();
        if (netRandom.chance(latent)) await scheduler.sleep(netRandom.between(1, latencyMs));
        const waiting = change.onCall?.(label);
        if (waiting) await waiting;
        const node = nodeOf(label);
        if (node !== undefined) scarcity?.serve(node);
        const answer = await ask();
        if (netRandom.chance(latent / 2)) await scheduler.sleep(netRandom.between(1, latencyMs));
        return answer;
      });

  function compose(instance: Instance): Custodian {
    const isPrevious = production.previous !== undefined && instance.number % 2 === 1;
    const running = (isPrevious && production.previous) || production;
    if (isPrevious) count('instances of the earlier release');
    const traced =
      (label: string) =>
      async <T>(ask: () => Promise<T>): Promise<T> => {
        try {
          const value = await network(instance, label)(ask);
          trace(() => `#${instance.number} ${label} -> ${shown(value)}`);
          return value;
        } catch (error) {
          trace(() => `#${instance.number} ${label} fails: ${String(error)}`);
          throw error;
        }
      };
    const scarce = scarcity?.ofInstance();
    const admitted =
      (label: string) =>
      <T>(ask: () => Promise<T>): Promise<T> => {
        const node = nodeOf(label);
        const call = () => traced(label)(ask);
        return scarce && node !== undefined ? scarce.admit(node, call) : call();
      };
    const modelled = nodes.rpcOver(admitted);
    const rpc = { ...modelled, nodes: change.nodes?.(modelled.nodes) ?? modelled.nodes };
    const { name, quote, report } = bridge.routeOf(state.reserve);
    const route: SwapRoute = {
      name,
      quote: (request) => traced('bridge.quote')(() => quote(request)),
      report: (depositAddress) => traced('bridge.report')(() => report(depositAddress)),
    };
    const log: Log = (line) => {
      if (line.level === 'alarm') count(`alarm: ${line.event}`);
      trace(() => `#${instance.number} log ${shown(line)}`);
    };
    const signer = signerOf(
      instance,
      state,
      witness,
      scenario.remoteKey
        ? production.createRemoteSigner({
            keychain: keyService(instance),
            verify: async (message, signature) => isOfMessage(message, signature),
            within: (work, ms) => within(scheduler, work, ms),
            log,
          })
        : undefined,
    );
    const settings = isPrevious ? running.readConfig(environment(scenario)) : config;
    const deps = running.composeCustody(settings, ADDRESSES.bitcoin, {
      rpc,
      esploras: [0, 1].map((index) => bitcoin.indexOver(index, traced)),
      readPrices: () =>
        traced('prices')(async () =>
          netRandom.chance(faults().prices) ? [] : Promise.all(venues.map((venue) => venue.read())),
        ),
      route,
      database: d1.over(traced) as never,
      signer,
      mintKeys: MINT_KEYS,
      proofSigner: {
        solanaAddress: signer.address,
        holdsBitcoinKey: true,
        sign: async (message) => ({
          solana: encodeBase58(await signer.sign(new TextEncoder().encode(message))),
          bitcoin: {
            scheme: 'bip137',
            signature: encodeBase58(sha256(new TextEncoder().encode(message))),
          } as never,
        }),
      },
      now: wallClock,
      randomId: () => `id-${scenario.seed}-${idRandom.between(0, 2 ** 40)}`,
      openCircuits: () => [],
      randomBytes: (length) => Uint8Array.from({ length }, () => idRandom.between(0, 255)),
      within: (work, ms) => within(scheduler, work, ms),
      log,
    });
    const custodian = new running.Custodian(instance.storage, change.deps?.(deps) ?? deps);
    return scarce?.within(custodian) ?? custodian;
  }

  const host = createHost<Custodian>({
    scheduler,
    random: random.fork(),
    faults: () => faults().host,
    wallClock,
    compose,
    beforeBoot(disk) {
      if (state.isLost || d1.highest() === 0) return;
      const offered = Number(disk.exec(META, ['offered'])[0]?.value ?? 0);
      if (d1.highest() > offered)
        witness.broken('mirror_behind', `D1 holds revision ${d1.highest()}, the journal offered ${offered}`);
    },
    onError(call, error) {
      // Reads, verbs that refuse an unverified journal, and the operator's commands may report a failed upstream.
      if (/^(createSwap|alarm|wake)$/.test(call)) witness.broken('no_call_throws', `${call}: ${error}`);
    },
    trace,
  });
  return {
    scenario,
    scheduler,
    ledger,
    bridge,
    bitcoin,
    d1,
    host,
    witness,
    truth,
    forged,
    trace,
    state,
    addresses: { ...ADDRESSES, treasury },
    happened,
    count,
    limits,
    blockTime,
    signature,
    rotate() {
      if (state.reserve === ROTATED || scenario.treasuryIsReserve) return;
      state.reserve = ROTATED;
      ledger.endow(key.lamports(ROTATED), scenario.startLamports);
      ledger.openAccount(ROTATED, ADDRESSES.asry, 10n ** 17n);
      ledger.mints.set(ADDRESSES.absr, { program: TOKEN_PROGRAM, decimals: 2, authority: ROTATED });
      host.restart('another key');
    },
  };
}

/** The maximum reward of a deposit: first on the curve, before the fee is rounded. */
export const mostReward = (atoms: bigint): bigint => rewardsAt(CURVE, atoms);

/** The node that a call is sent to; undefined for any other upstream. */
const nodeOf = (label: string): string | undefined => /^node-\d+/.exec(label)?.[0];

const META = 'SELECT value FROM meta WHERE key = ?';
const STOPS = `SELECT key, value FROM meta WHERE key IN ('frozen', 'paused') AND value <> ''`;

/** The slot of the birth of a journal that began anew; 0 without one. */
export const bornAt = ({ disk }: Host<Custodian>): number => {
  const text = disk.exec(META, ['birth'])[0]?.value;
  return text === undefined ? 0 : Number((JSON.parse(String(text)) as { slot: string }).slot);
};

/** @param remote signs instead of a key in the process */
function signerOf(instance: Instance, state: State, witness: Witness, remote: Signer | undefined): Signer {
  const address = state.reserve;
  return {
    ...remote,
    address,
    sign(message: Uint8Array) {
      const name = witness.toSign(message);
      return instance.cross('signer.sign', async () => {
        const signature = remote ? await remote.sign(message) : signatureOf(message);
        const stop = state.isLost ? 'its journal was lost' : instance.disk.exec(STOPS, [])[0]?.key;
        const stopped = stop === undefined || stop === null ? undefined : String(stop);
        witness.signed(name, encodeBase58(signature), address, stopped);
        return signature;
      });
    },
  };
}

async function within<T>(scheduler: Scheduler, work: Promise<T>, ms: number): Promise<T | undefined> {
  let cancel = (): void => undefined;
  const late = new Promise<undefined>((resolve) => {
    cancel = scheduler.after(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}

const shown = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? `${member}` : member,
  )?.slice(0, 200) ?? 'undefined';
