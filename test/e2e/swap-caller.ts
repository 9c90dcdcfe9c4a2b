import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_MS } from '../patience.ts';
import { scriptOf } from '../world/bitcoin-wallet.ts';
import type { World } from '../world/world.ts';

export type Body = Readonly<Record<string, unknown>>;

/** An answer of the service, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** A plain transfer of lamports out of the reserve, as the chain has it. */
export interface ReservePayment {
  readonly signature: string;
  readonly to: string;
  readonly lamports: bigint;
  readonly fee: bigint;
  readonly blockTime: number;
}

const SYSTEM_PROGRAM = '1'.repeat(32);
/** Payer, receiver, the System program and the compute budget's: a transfer names no other account. */
const TRANSFER_ACCOUNTS = 4;

export interface SwapCaller {
  get(path: string): Promise<Answer>;
  create(amountSol: unknown, options?: { readonly key?: string; readonly ip?: string }): Promise<Answer>;
  status(id: string): Promise<Answer>;
  /** The status once it is no longer `waiting`. */
  settled(id: string): Promise<Body>;
  history(): Promise<readonly Body[]>;
  /** Payments of the reserve since the start of the world, oldest first. */
  payments(): ReservePayment[];
  /** Lamports of the reserve in the newest slot. */
  lamports(): Promise<bigint>;
  /** Confirmed satoshis of the reserve's address on the world's chain. */
  sats(): bigint;
  /** Satoshis that a transaction pays to the reserve, and whether it is in a block; null when it does not exist. */
  bitcoinPayment(txid: string): { readonly sats: bigint; readonly confirmed: boolean } | null;
  /** Rows of the mirror in D1, oldest first. */
  rows(): Promise<readonly Body[]>;
}

/** Retries until there is a value. @throws Error with the name of the wait after `WAIT_MS` */
export async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(25)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`never: ${what}`);
}

/** Waits for the end of every operation, such as the day's mint, which the first run of the cron begins. */
export const mintEnds = (world: World): Promise<true> =>
  until('the day’s mint is over', async () => {
    const rows = (await world.worker.query('SELECT status FROM operations')) as Body[];
    return rows.length > 0 && rows.every(({ status }) => status !== 'waiting') ? true : undefined;
  });

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const body = (text.startsWith('{') ? JSON.parse(text) : { text }) as Body;
  return { status: response.status, headers: response.headers, body };
}

/** Calls the service: a GET, or a POST if there is a body. A text is sent as it is. @param call.secret of the operator */
export async function ask(
  world: Pick<World, 'fetch'>,
  path: string,
  call: {
    readonly body?: unknown;
    readonly ip?: string | undefined;
    readonly key?: string | undefined;
    readonly secret?: string | undefined;
  } = {},
): Promise<Answer> {
  const { body, ip, key, secret } = call;
  const post = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
  return read(await world.fetch(path, { ...(body !== undefined && post), ...(ip !== undefined && { ip }) }));
}

/** A command of the operator. */
export const command = async (world: World, body: Body): Promise<Body> =>
  (await ask(world, '/api/ops', { body, secret: world.bindings.OPS_SECRET })).body;

/** The service and both chains of a world, for comparing one with the other. */
export function createSwapCaller(world: World): SwapCaller {
  const { ledger } = world.solana;
  const { index } = world.bitcoin;
  const script = scriptOf(world.reserve.bitcoin);
  const get = (path: string): Promise<Answer> => ask(world, path);
  const status = (id: string): Promise<Answer> => get(`/api/swap/status/${id}`);

  const paidTo = (txid: string): bigint =>
    (index.get(txid)?.outputs ?? []).reduce(
      (sum, output) => sum + (output.script === script ? BigInt(output.sats) : 0n),
      0n,
    );

  return {
    get,
    status,
    create: (amountSol, options) => ask(world, '/api/swap/create', { body: { amountSol }, ...options }),
    settled: (id) =>
      until(`swap ${id} settled`, async () => {
        const { status: code, body } = await status(id);
        return code === 200 && body.status !== 'waiting' ? body : undefined;
      }),
    async history() {
      const { body } = await get('/api/exchanges/transactions');
      return body.transactions as readonly Body[];
    },
    payments: () =>
      ledger
        .transactionsOf(world.reserve.solana)
        .filter(({ accounts, err }) => accounts[0] === world.reserve.solana && err === null)
        .filter(({ accounts }) => accounts.length === TRANSFER_ACCOUNTS && accounts.includes(SYSTEM_PROGRAM))
        .map(({ signature, accounts, preBalances, postBalances, fee, blockTime }) => {
          const at = accounts.findIndex((_, i) => (postBalances[i] ?? 0) > (preBalances[i] ?? 0));
          const lamports = BigInt(postBalances[at] ?? 0) - BigInt(preBalances[at] ?? 0);
          return { signature, to: accounts[at] ?? '', lamports, fee: BigInt(fee), blockTime };
        })
        .toReversed(),
    async lamports() {
      const account = await ledger.account(world.reserve.solana, ledger.clock.slot('processed'));
      return BigInt(account?.lamports ?? 0);
    },
    sats: () =>
      index.byScript(script).reduce((sum, tx) => (tx.block === null ? sum : sum + paidTo(tx.txid)), 0n),
    bitcoinPayment(txid) {
      const tx = index.get(txid);
      return tx && { sats: paidTo(txid), confirmed: tx.block !== null };
    },
    async rows() {
      return (await world.worker.query(
        "SELECT * FROM operations WHERE kind = 'swap' ORDER BY seq",
      )) as Body[];
    },
  };
}
