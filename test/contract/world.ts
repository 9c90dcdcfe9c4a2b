import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { tourService, type Visit } from '../e2e/service-tour.ts';
import { type Answer, type Body, read } from '../e2e/swap-caller.ts';
import { startWorld, type World } from '../world/world.ts';

/** The service on its world, and its responses to a customer who used every feature once. */
export interface Contract {
  readonly world: World;
  /** A world with an almost empty reserve, in which some areas are not configured. */
  readonly poor: World;
  /** The last response to a call on the tour. */
  answer(call: string): Body;
  /** Its request body. */
  sent(call: string): Body;
  ask(call: string, request?: Request): Promise<Answer>;
  /** The result of `make` at the first request for this name. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
  readonly document: ApiDocument;
  /** The path of the last call on the tour. */
  pathOf(call: string): string;
  stop(): Promise<void>;
}

export interface Request {
  readonly body?: unknown;
  readonly world?: World;
  readonly ip?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts both worlds and takes the tour. */
export async function openContract(): Promise<Contract> {
  const [world, poor] = await Promise.all([
    startWorld({ cron: false, blockMs: 0, settleDelayMs: 200 }),
    startWorld({
      cron: false,
      reserveLamports: 200_000_000n,
      vars: { NOSTR_NPUB: undefined, CHANGENOW_API_KEY: undefined },
    }),
  ]);

  async function ask(call: string, request: Request = {}): Promise<Answer> {
    const [method = '', path = ''] = call.split(' ');
    const { body, ip = '198.51.100.77' } = request;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await (request.world ?? world).fetch(path, {
      method,
      ip,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...request.headers },
      ...(body === undefined ? {} : { body: text }),
    });
    return read(response);
  }

  const document = (await ask('GET /api/openapi.json')).body as unknown as ApiDocument;
  const operations = new Map(
    operationsOf(document).map(({ method, path, operation }) => [
      `${method.toUpperCase()} ${path}`,
      operation.operationId,
    ]),
  );
  // The cron begins the mint of ABSR and the day's proof. A proof needs both Bitcoin indexes at one tip, which blocks
  // every 500 ms would prevent on a busy machine. Blocks therefore begin after it.
  await world.control.cron();
  const miner = setInterval(() => void world.control.mine(1).catch(() => undefined), 500);
  const visits = await tourService(world, document);

  function visit(call: string): Visit {
    const operation = operations.get(call);
    const found = visits.findLast(({ operationId }) => operation !== undefined && operationId === operation);
    if (found === undefined) throw new Error(`${call}: not on the tour`);
    if (found.status >= 400) throw new Error(`${call}: ${found.status} ${JSON.stringify(found.body)}`);
    return found;
  }

  const made = new Map<string, Promise<unknown>>();

  return {
    world,
    poor,
    document,
    ask,
    pathOf: (call) => visit(call).path,
    once<T>(name: string, make: () => Promise<T>): Promise<T> {
      const known = made.get(name) ?? make();
      made.set(name, known);
      return known as Promise<T>;
    },
    answer: (call) => visit(call).body as Body,
    sent: (call) => (visit(call).requestBody ?? {}) as Body,
    async stop() {
      clearInterval(miner);
      await Promise.all([world.stop(), poor.stop()]);
    },
  };
}
