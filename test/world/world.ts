import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SITE_FOLDER } from '../../site/build/build-site.ts';
import { hostFiles } from '../../site/build/host-files.ts';
import { DAY_MS } from '../../src/core/durations.ts';
import { createBindings, type Endpoints, witnessBindings } from './bindings.ts';
import { type BitcoinNode, startBitcoinNode } from './bitcoin-node.ts';
import { payBitcoin } from './bitcoin-wallet.ts';
import { startControl } from './control.ts';
import { startCron } from './cron.ts';
import { startEdge } from './edge.ts';
import { createFaultBook, type FaultBook } from './fault-book.ts';
import {
  createBitcoinKey,
  createQuoteKey,
  createSolanaKey,
  mintSeed,
  randomHex,
  type SolanaKey,
} from './keys.ts';
import type { WorldPools } from './orca-pools.ts';
import { createPriceBook, type PriceBook } from './price-venues.ts';
import { createRequestCounts, type UpstreamCounts } from './request-counts.ts';
import { TEMPORARY } from './running-world.ts';
import { type FaucetAsset, type SolanaWorld, startSolanaWorld } from './solana-world.ts';
import { startUpstreams } from './upstreams.ts';
import { transferFromUser, type UserTransfer } from './user-transfer.ts';
import { bundleWorker } from './worker-bundle.ts';
import { createWorkerProcess, type Release } from './worker-process.ts';

/** The daily mint is due at 00:05 UTC; one minute more, since the Worker's clock ignores moves below 30 s. */
const FIRST_MINT_MS = 6 * 60_000;
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

type Vars = Readonly<Record<string, string | undefined>>;

export interface WorldOptions {
  /** Port of the edge; 0 takes a free one. */
  readonly port?: number;
  /** Milliseconds per Solana slot; a block hash lives 150 slots. */
  readonly slotMs?: number;
  /** Milliseconds between Bitcoin blocks; 0 mines on demand only. */
  readonly blockMs?: number;
  /** Milliseconds between a confirmed deposit and its Bitcoin payment. */
  readonly settleDelayMs?: number;
  readonly reserveLamports?: bigint;
  /** Bindings to add or replace, or a function that creates them; undefined removes one. */
  readonly vars?: Vars | ((own: Readonly<Record<string, string>>) => Vars);
  /** The release to start with; default the one of these sources. */
  readonly release?: Release;
  /** Number of Solana nodes that the Worker uses, 2 or 3. */
  readonly nodes?: 2 | 3;
  /** Requests that each Solana node serves in a second; absent: any number. */
  readonly nodeRate?: number;
  /** Whether the scheduled handler is called by the clock. */
  readonly cron?: boolean;
  /** Whether the MCP server answers at /mcp. */
  readonly mcp?: boolean;
  /** Whether a mint of ABSR needs the signature of a witness. */
  readonly witness?: boolean;
  readonly onLog?: (line: string) => void;
  /** Days before today on which the world begins: its block times, and the Worker's clock from its first event on. */
  readonly pastDays?: number;
}

export interface WorldControl {
  /** The time of the next cron run, Unix milliseconds: after 00:05 UTC in a new world. */
  now(): number;
  /** Sends lamports or token atoms to any address; returns the signature. */
  faucet(address: string, asset: FaucetAsset, amount: bigint): Promise<string>;
  /** Sends from a user as a wallet would; returns the signature. */
  transfer(transfer: UserTransfer): Promise<string>;
  mine(blocks: number): Promise<void>;
  reorg(depth: number, drop?: readonly string[]): Promise<void>;
  /** Pays a Bitcoin address from the world's wallet, unconfirmed; returns the txid. */
  sendBitcoin(address: string, sats: bigint): Promise<string>;
  /** Moves all clocks of a world that began in the past. Nothing that was sent before can land any more. */
  pass(ms: number): Promise<void>;
  /** Calls the scheduled handler once; default the first cron expression and now. */
  cron(expression?: string, time?: number): Promise<unknown>;
}

export interface World {
  /** The service, as a client sees it. */
  readonly url: string;
  readonly controlUrl: string;
  /** Temporary files of this world, gone after `stop`. */
  readonly folder: string;
  readonly endpoints: Endpoints;
  readonly bindings: Readonly<Record<string, string>>;
  readonly reserve: { readonly solana: string; readonly bitcoin: string };
  readonly treasury: string;
  /** Whirlpools on the chain, also listed by the pool API. */
  readonly pools: WorldPools;
  readonly mints: Readonly<Record<'usdc' | 'usdt' | 'asry' | 'absr', string>>;
  /** Throw-away wallets with SOL, USDC and USDT. */
  readonly users: readonly SolanaKey[];
  readonly faults: FaultBook;
  readonly prices: PriceBook;
  readonly control: WorldControl;
  readonly worker: {
    /** Where the Worker listens behind the edge; null while it is down. */
    url(): string | null;
    start(): Promise<void>;
    /**
     * Builds site and Worker from the current files, and restarts the Worker on its storage. @throws Error
     * when the build fails
     */
    reload(): Promise<void>;
    /** SIGKILL; storage stays. */
    kill(): Promise<void>;
    /** The bundle of these sources. */
    readonly bundlePath: string;
    /** Replaces the running release by another one on the same storage, as a deployment or a rollback does. */
    deploy(release: Release): Promise<void>;
    logs(): readonly string[];
    /** Rows of the Worker's D1 database. */
    query(sql: string, params?: readonly unknown[]): Promise<unknown>;
    /** Rows of the object of the page views. */
    pageViews(sql: string): Promise<unknown>;
    /** The custodian loses its memory, as after ten idle seconds. */
    evict(): Promise<void>;
  };
  readonly solana: SolanaWorld;
  readonly bitcoin: BitcoinNode;
  /** Calls the service; `ip` is the caller's address as the edge reports it. */
  fetch(path: string, init?: RequestInit & { readonly ip?: string }): Promise<Response>;
  /** Requests per upstream since the start or the last reset. */
  stats(): Record<string, UpstreamCounts>;
  resetStats(): void;
  stop(): Promise<void>;
}

const USERS = 2;
const USER_LAMPORTS = 20_000_000_000n;
const USER_DOLLAR_ATOMS = 10_000_000_000n;
/** Depth of the reserve's coins: somewhat more than the service requires. */
const FUNDING_DEPTH = 6;

/** Coins of the world's wallet besides its coinbases: the number of payments that may wait for one block. */
const COINS = 250;
const COIN_SATS = 15_000_000n;

async function startBitcoin(reserveAddress: string, sats: bigint, now: () => number) {
  const bank = createBitcoinKey();
  // A P2WPKH script is two opcodes and the key's hash.
  const node = await startBitcoinNode({ coinbaseKeyHash: bank.script.subarray(2), now });
  await payBitcoin(node, bank, Array(COINS).fill({ address: bank.address, sats: COIN_SATS }));
  if (sats > 0n) await payBitcoin(node, bank, [{ address: reserveAddress, sats }]);
  await node.mine(FUNDING_DEPTH);
  return { bank, node };
}

async function createUsers(solana: SolanaWorld): Promise<SolanaKey[]> {
  const users = await Promise.all(Array.from({ length: USERS }, () => createSolanaKey()));
  for (const { address } of users) {
    await solana.faucet(address, 'sol', USER_LAMPORTS);
    await solana.faucet(address, 'usdc', USER_DOLLAR_ATOMS);
    await solana.faucet(address, 'usdt', USER_DOLLAR_ATOMS);
  }
  solana.ledger.clock.root();
  return users;
}

/** Starts all upstreams on loopback and the Worker. `stop` leaves nothing behind. */
export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), TEMPORARY));
  const discard = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', discard);
  const stops: (() => void | Promise<void>)[] = [
    () => {
      process.off('exit', discard);
      discard();
    },
  ];
  async function stop(): Promise<void> {
    for (const step of stops.splice(0).toReversed()) await step();
  }

  try {
    let behindMs = (options.pastDays ?? 0) * DAY_MS;
    const now = (): number => Date.now() - behindMs;
    const faults = createFaultBook();
    const counts = createRequestCounts();
    const prices = createPriceBook({ BTC: '80000', SOL: '100' });
    const quoteKey = createQuoteKey();
    const oneClickToken = randomHex(16);
    const changenowKey = randomHex(16);
    const reserveBitcoin = createBitcoinKey();

    // Workers that a test run has bundled for all its worlds. Without them this world bundles its own.
    const bundles = process.env.WORLD_BUNDLES ?? folder;
    const build = () => bundleWorker(ROOT, join(bundles, 'bundle'), folder);
    const bundle = bundles === folder ? build() : Promise.resolve(join(bundles, 'bundle/worker.js'));
    bundle.catch(() => undefined);
    const bundleOf = (name: 'mcp' | 'witness') =>
      bundles === folder
        ? bundleWorker(ROOT, join(folder, `${name}-bundle`), folder, `wrangler.${name}.toml`)
        : Promise.resolve(join(bundles, `${name}-bundle/worker.js`));
    const mcpBundle = options.mcp ? bundleOf('mcp') : undefined;
    const witnessBundle = options.witness ? bundleOf('witness') : undefined;
    for (const each of [mcpBundle, witnessBundle]) each?.catch(() => undefined);
    // A bundler that still runs would create the discarded folder again.
    stops.push(async () => void (await Promise.allSettled([bundle, mcpBundle, witnessBundle])));
    const optionsOf = (name: string) => (bundles === folder ? {} : { optionsPath: join(bundles, name) });
    const solana = await startSolanaWorld({
      slotMs: options.slotMs ?? 50,
      reserveLamports: options.reserveLamports ?? 10_000_000_000n,
      asrySupply: 10n ** 18n,
      witness: options.witness ?? false,
      now,
    });
    stops.push(() => solana.stop());
    const users = await createUsers(solana);
    const { bank, node: bitcoin } = await startBitcoin(reserveBitcoin.address, 1_000_000n, now);
    stops.push(() => bitcoin.close());
    const blockMs = options.blockMs ?? 3000;
    if (blockMs > 0) {
      const miner = setInterval(() => void bitcoin.mine(1).catch(() => undefined), blockMs);
      stops.push(() => clearInterval(miner));
    }

    let witnessUrl: () => string | null = () => null;
    const upstreams = await startUpstreams({
      solana,
      bitcoin,
      bitcoinBank: bank,
      prices,
      faults,
      counts,
      quoteKey,
      oneClickToken,
      changenowKey,
      settleDelayMs: options.settleDelayMs ?? 2000,
      now,
      nodes: options.nodes ?? 2,
      nodeRate: options.nodeRate,
      ...(options.witness ? { witness: () => witnessUrl() } : {}),
    });
    stops.push(() => upstreams.stop());

    /**
     * Milliseconds by which the Worker's clock is ahead of the real one. Before 00:05 UTC no mint is due, so a world
     * that starts then skips the first minutes of the day.
     */
    let clockOffsetMs = Math.max(0, FIRST_MINT_MS - (Date.now() % DAY_MS)) - behindMs;
    let target: () => string | null = () => null;
    const edge = await startEdge({ port: options.port ?? 0, target: () => target() });
    stops.push(() => edge.stop());
    const bindings = {
      ...createBindings({
        baseUrl: edge.url,
        endpoints: upstreams.endpoints,
        pools: upstreams.pools,
        solana,
        reserveBitcoin,
        secrets: { oneClickToken, changenowKey, quoteKey: quoteKey.publicKey, npub: upstreams.npub },
      }),
    };
    const vars = typeof options.vars === 'function' ? options.vars(bindings) : options.vars;
    for (const [name, value] of Object.entries(vars ?? {})) {
      if (value === undefined) delete bindings[name];
      else bindings[name] = value;
    }

    const bundlePath = await bundle;
    const sitePath = join(folder, 'site');
    const { esplora1, esplora2, rpc1, rpc2 } = upstreams.endpoints;
    // This world's explorers and nodes are the independent sources, like public ones for a deployed site.
    const sources = { explorers: [`${esplora1}/api`, `${esplora2}/api`], rpcUrls: [rpc1, rpc2] };
    const copySite = (from: string): void => {
      cpSync(from, sitePath, { recursive: true });
      for (const [name, text] of hostFiles(sources)) writeFileSync(join(sitePath, name), text);
    };
    // A test that starts `npm start` builds the site anew while other worlds start.
    copySite(bundles === folder ? SITE_FOLDER : join(bundles, 'site'));

    const worker = createWorkerProcess(
      {
        configPath: join(ROOT, 'wrangler.toml'),
        ...optionsOf('options.json'),
        schemaPath: join(ROOT, 'schema.sql'),
        bundlePath,
        sitePath,
        storagePath: join(folder, 'storage'),
        tempPath: folder,
        bindings,
        ...(witnessBundle === undefined
          ? {}
          : {
              witness: {
                configPath: join(ROOT, 'wrangler.witness.toml'),
                ...optionsOf('witness-options.json'),
                bundlePath: await witnessBundle,
                bindings: witnessBindings({ endpoints: upstreams.endpoints, solana, reserveBitcoin }),
              },
            }),
        ...(mcpBundle === undefined
          ? {}
          : {
              mcp: {
                configPath: join(ROOT, 'wrangler.mcp.toml'),
                ...optionsOf('mcp-options.json'),
                bundlePath: await mcpBundle,
                bindings: {
                  PUBLIC_BASE_URL: edge.url,
                  PROOF_EXPLORER_URLS: sources.explorers.join(','),
                  PROOF_RPC_URL: rpc1,
                },
              },
            }),
      },
      options.onLog ?? (() => undefined),
    );
    target = worker.url;
    witnessUrl = worker.witnessUrl;
    stops.push(() => worker.stop());
    await worker.start(options.release);
    if (options.cron ?? true)
      stops.push(
        startCron(
          worker.crons,
          (cron, time) => void worker.scheduled(cron, time + clockOffsetMs).catch(() => undefined),
        ),
      );

    solana.ledger.lendKeys(async (address) => {
      const own = [solana.reserve, solana.treasury, ...users].find((key) => key.address === address);
      if (own) return own.signer;
      const rows = (await worker.query('SELECT id FROM invoices', [])) as { id: string }[];
      const keys = await Promise.all(
        rows.map(({ id }) => createSolanaKey(mintSeed(String(bindings.MINT_KEY_SEED), id))),
      );
      return keys.find((key) => key.address === address)?.signer;
    });

    const control: WorldControl = {
      faucet: solana.faucet,
      transfer: (transfer) => transferFromUser(solana, transfer),
      mine: bitcoin.mine,
      reorg: bitcoin.reorg,
      sendBitcoin: (address, sats) => payBitcoin(bitcoin, bank, [{ address, sats }]),
      async pass(ms) {
        behindMs -= ms;
        clockOffsetMs += ms;
        await solana.ledger.clock.skipBlocks();
      },
      now: () => Date.now() + clockOffsetMs,
      cron: (expression, time) => {
        if (time !== undefined) clockOffsetMs = time - Date.now();
        const cron = expression ?? worker.crons()[0] ?? '* * * * *';
        return worker.scheduled(cron, control.now());
      },
    };
    const world: Omit<World, 'controlUrl'> = {
      url: edge.url,
      folder,
      endpoints: upstreams.endpoints,
      bindings,
      reserve: { solana: solana.reserve.address, bitcoin: reserveBitcoin.address },
      treasury: solana.treasury.address,
      pools: upstreams.pools,
      mints: {
        usdc: solana.mints.usdc.mint,
        usdt: solana.mints.usdt.mint,
        asry: solana.mints.asry.mint,
        absr: solana.mints.absr.mint,
      },
      users,
      faults,
      prices,
      control,
      worker: {
        url: worker.url,
        start: () => worker.start(),
        reload: async () => {
          await build();
          copySite(SITE_FOLDER);
          await worker.stop();
          await worker.start();
        },
        kill: worker.kill,
        bundlePath,
        deploy: async (release) => {
          await worker.stop();
          await worker.start(release);
        },
        logs: worker.logs,
        query: (sql, params = []) => worker.query(sql, params),
        pageViews: worker.pageViews,
        evict: async () => void (await worker.evict()),
      },
      solana,
      bitcoin,
      fetch(path, { ip, ...init } = {}) {
        const headers = new Headers(init.headers);
        if (ip !== undefined) headers.set('x-world-client-ip', ip);
        return fetch(new URL(path, edge.url), { ...init, headers });
      },
      stats: counts.all,
      resetStats: counts.reset,
      stop,
    };
    const controlServer = await startControl(world);
    stops.push(() => controlServer.stop());
    return { ...world, controlUrl: controlServer.url };
  } catch (error) {
    await stop();
    throw error;
  }
}
