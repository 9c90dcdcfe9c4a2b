import { createServer } from 'node:http';
import * as z from 'zod';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { isUpstream } from './bindings.ts';
import type { Fault } from './fault-book.ts';
import { listen } from './fault-gate.ts';
import type { World } from './world.ts';

const DECIMALS = { sol: 9, usdc: 6, usdt: 6, asry: 9 } as const;

/** Whole coins as decimal text or number, to atoms; refused when it has more digits than the coin. */
function atoms(amount: string | number, decimals: number): bigint {
  const found = /^(\d+)(?:\.(\d+))?$/.exec(String(amount));
  const fraction = found?.[2] ?? '';
  if (found === null || fraction.length > decimals) throw new Error(`amount: up to ${decimals} decimals`);
  return BigInt(`${found[1]}${fraction.padEnd(decimals, '0')}`);
}

const amount = z.union([z.string(), z.number()]);
const asset = z.enum(['sol', 'usdc', 'usdt', 'asry']);

const faultBody = z.object({
  upstream: z.string(),
  kind: z.string(),
  match: z.string().optional(),
  times: z.number().int().positive().optional(),
  ms: z.number().optional(),
  retryAfterSeconds: z.number().optional(),
  by: z.number().optional(),
  mode: z.string().optional(),
  value: z.string().optional(),
});
const faucetBody = z.object({ address: z.string(), asset, amount });
const transferBody = z.object({
  /** Number of the sending user, in the order of `GET /info`. */
  user: z.number().int().min(0).default(0),
  to: z.string(),
  asset: asset.default('sol'),
  amount,
  references: z.array(z.string()).optional(),
  memo: z.string().optional(),
  version: z.union([z.literal(0), z.literal(1)]).optional(),
});
const mineBody = z.object({ blocks: z.number().int().min(1).max(1000).default(1) });
const reorgBody = z.object({ depth: z.number().int().min(1), drop: z.array(z.string()).default([]) });
const sendBody = z.object({ address: z.string(), sats: z.number().int().positive() });
const finalityBody = z.object({ held: z.boolean() });
const pricesBody = z.object({
  BTC: z.string().optional(),
  SOL: z.string().optional(),
  venue: z.enum(VENUE_NAMES).optional(),
});
const queryBody = z.object({ sql: z.string() });
const cronBody = z.object({ cron: z.string().optional(), time: z.number().optional() });

type Route = (body: unknown) => unknown;

function routes(world: Omit<World, 'controlUrl'>): Record<string, Route> {
  const { control, faults, worker } = world;
  return {
    'GET /info': () => ({
      url: world.url,
      endpoints: world.endpoints,
      reserve: world.reserve,
      treasury: world.treasury,
      mints: world.mints,
      users: world.users.map(({ address, secretKey }) => ({ address, secretKey })),
    }),
    'GET /faults': () => faults.list(),
    'POST /faults': (body) => {
      const { upstream, ...fault } = faultBody.parse(body);
      if (!isUpstream(world.endpoints, upstream)) throw new Error(`no upstream ${upstream}`);
      faults.set(upstream, fault as Fault);
      return faults.list();
    },
    'DELETE /faults': () => {
      faults.clear();
      return {};
    },
    'GET /stats': () => world.stats(),
    'DELETE /stats': () => {
      world.resetStats();
      return {};
    },
    'POST /faucet': async (body) => {
      const wanted = faucetBody.parse(body);
      const units = atoms(wanted.amount, DECIMALS[wanted.asset]);
      return { signature: await control.faucet(wanted.address, wanted.asset, units) };
    },
    'POST /transfer': async (body) => {
      const { user, amount, ...rest } = transferBody.parse(body);
      const from = world.users[user];
      if (from === undefined) throw new Error('no such user');
      const signature = await control.transfer({
        from,
        to: rest.to,
        asset: rest.asset,
        amount: atoms(amount, DECIMALS[rest.asset]),
        ...(rest.references === undefined ? {} : { references: rest.references }),
        ...(rest.memo === undefined ? {} : { memo: rest.memo }),
        ...(rest.version === undefined ? {} : { version: rest.version }),
      });
      return { signature };
    },
    'POST /bitcoin/mine': async (body) => {
      await control.mine(mineBody.parse(body).blocks);
      return { height: world.bitcoin.height() };
    },
    'POST /bitcoin/reorg': async (body) => {
      const { depth, drop } = reorgBody.parse(body);
      await control.reorg(depth, drop);
      return { height: world.bitcoin.height() };
    },
    'POST /bitcoin/send': async (body) => {
      const { address, sats } = sendBody.parse(body);
      return { txid: await control.sendBitcoin(address, BigInt(sats)) };
    },
    'POST /solana/finality': (body) => {
      world.solana.ledger.clock.holdFinality(finalityBody.parse(body).held);
      return {};
    },
    'POST /prices': (body) => {
      const { venue, BTC, SOL } = pricesBody.parse(body);
      world.prices.set(
        { ...(BTC === undefined ? {} : { BTC }), ...(SOL === undefined ? {} : { SOL }) },
        venue,
      );
      return { BTC: world.prices.price('BTC', venue), SOL: world.prices.price('SOL', venue) };
    },
    'POST /worker/kill': async () => {
      await worker.kill();
      return {};
    },
    'POST /worker/start': async () => {
      await worker.start();
      return {};
    },
    'POST /worker/query': (body) => worker.query(queryBody.parse(body).sql),
    'GET /worker/logs': () => worker.logs(),
    'POST /cron': (body) => {
      const { cron, time } = cronBody.parse(body);
      return control.cron(cron, time);
    },
  };
}

/** The world's control endpoint: JSON over HTTP on loopback, for people and scripts that change the world. */
export async function startControl(
  world: Omit<World, 'controlUrl'>,
): Promise<{ url: string; stop(): Promise<void> }> {
  const table = routes(world);
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://world').pathname;
    const route = table[`${request.method} ${path}`];
    const reply = (status: number, value: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify(value)}\n`);
    };
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (route === undefined) return reply(404, { error: 'unknown call', calls: Object.keys(table) });
      const body = Buffer.concat(chunks).toString('utf8');
      reply(200, (await route(body === '' ? {} : JSON.parse(body))) ?? {});
    } catch (error) {
      reply(400, { error: error instanceof Error ? error.message : String(error) });
    }
  });
  const { port, stop } = await listen(server);
  return { url: `http://127.0.0.1:${port}`, stop };
}
