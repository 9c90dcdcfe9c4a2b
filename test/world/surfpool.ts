import { readdirSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';
import type { RpcError } from './solana-shapes.ts';

/** Types of the used parts of the addon, which ships none. */
interface SurfnetInstance {
  readonly rpcUrl: string;
  readonly payer: string;
  readonly payerSecretKey: number[];
  setAccount(address: string, lamports: number, data: number[], owner: string): void;
  /** Returns its reports since the last call. */
  drainEvents(): { readonly kind: string; readonly clock?: { readonly slot: number } }[];
  stop(): void;
}

interface SurfnetAddon {
  readonly Surfnet: { startWithConfig(config: Record<string, unknown>): SurfnetInstance };
}

/** The result of a JSON-RPC call of the virtual machine: exactly one of the two. */
export type RpcOutcome<T> = { readonly result: T } | { readonly error: RpcError };

/** A Solana virtual machine in this process. Its own JSON-RPC is private to the world. */
export interface Surfpool {
  /** Its own payer, funded at start. */
  readonly payerSeed: Uint8Array;
  call<T>(method: string, params?: readonly unknown[]): Promise<RpcOutcome<T>>;
  /** Like `call`, but throws on an error response. */
  get<T>(method: string, params?: readonly unknown[]): Promise<T>;
  /** Writes an account without a transaction. */
  setAccount(address: string, lamports: bigint, data: Uint8Array, owner: string): void;
  /** The newest slot that it has reported; 0 before the first report. */
  newestSlot(): number;
  stop(): void;
}

const DRAIN_MS = 500;

/** Platforms for which npm has a Surfpool package; Linux with glibc only. */
const PLATFORMS = ['linux-x64', 'darwin-arm64', 'darwin-x64'];
const HERE = `${process.platform}-${process.arch}`;

const packageOf = (platform: string): string =>
  `@solana/surfpool-${platform}${platform.startsWith('linux') ? '-gnu' : ''}`;

function load(platform: string): SurfnetAddon | Error {
  try {
    return createRequire(import.meta.url)(packageOf(platform)) as SurfnetAddon;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Whether the C library is musl, for which npm skips the package of linux-x64. */
const isMusl = (): boolean =>
  process.platform === 'linux' && readdirSync('/lib').some((file) => file.startsWith('ld-musl-'));

/** One line that says why the world cannot run on a platform and what to do, or null when it can. */
export function surfpoolMissing(platform = HERE): string | null {
  const loaded = load(platform);
  if (!(loaded instanceof Error)) return null;
  const name = packageOf(platform);
  const isInstalled = !('code' in loaded) || loaded.code !== 'MODULE_NOT_FOUND';
  if (isInstalled)
    return `The offline world needs ${name}, which does not load: ${loaded.message.split('\n', 1)[0]}`;
  if (PLATFORMS.includes(platform) && !(platform === HERE && isMusl()))
    return `The offline world needs ${name}, which is not installed. Run \`npm ci\` without \`--omit=optional\`.`;
  return `npm has no Surfpool for ${platform}${isMusl() ? ' with musl' : ''}, so the offline world cannot run here. Run it on Linux x64 with glibc or on macOS, for example in a container for linux/amd64; \`npx wrangler dev\` and tests without a world run here.`;
}

export function startSurfpool(options: { slotMs: number; airdropLamports: bigint }): Surfpool {
  const addon = load(HERE);
  if (addon instanceof Error) throw new Error(surfpoolMissing() ?? addon.message);
  const instance = addon.Surfnet.startWithConfig({
    offline: true,
    blockProductionMode: 'clock',
    slotTimeMs: options.slotMs,
    airdropSol: Number(options.airdropLamports),
  });
  // It reports every slot and transaction into a queue of about a thousand entries, and stops once the queue
  // is full.
  let newest = 0;
  function drain(): void {
    for (const { clock } of instance.drainEvents()) newest = Math.max(newest, clock?.slot ?? 0);
  }
  const draining = setInterval(drain, DRAIN_MS);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });

  async function call<T>(method: string, params: readonly unknown[] = []): Promise<RpcOutcome<T>> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const answer = await post(instance.rpcUrl, agent, body);
    return JSON.parse(answer) as RpcOutcome<T>;
  }

  return {
    payerSeed: Uint8Array.from(instance.payerSecretKey.slice(0, 32)),
    call,
    async get<T>(method: string, params: readonly unknown[] = []) {
      const outcome = await call<T>(method, params);
      if ('error' in outcome) throw new Error(`${method}: ${outcome.error.message}`);
      return outcome.result;
    },
    newestSlot() {
      drain();
      return newest;
    },
    setAccount: (address, lamports, data, owner) =>
      instance.setAccount(address, Number(lamports), Array.from(data), owner),
    stop() {
      clearInterval(draining);
      agent.destroy();
      instance.stop();
    },
  };
}

// node:http instead of fetch: an Agent of our own can be closed at stop, so that nothing keeps the process alive.
function post(url: string, agent: Agent, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
        incoming.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
