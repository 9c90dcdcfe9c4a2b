/** Our own time per create, step by step, and one custodian's throughput with slow upstreams. */
import { setTimeout as sleep } from 'node:timers/promises';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { lamports } from '../../src/core/amount.ts';
import { createSigner } from '../../src/custody/kernel/signer.ts';
import type { CustodyLimits } from '../../src/custody/limits.ts';
import { assembleTransaction, createCustodianWorld, request } from '../../test/kit/custodian.ts';
import { quoteFor } from '../../test/kit/fake-bridge.ts';
import { LIMITS as TEST_LIMITS } from '../../test/kit/limits.ts';
import { createSqliteStorage } from '../../test/kit/sqlite-storage.ts';
import { createSolanaKey } from '../../test/world/keys.ts';
import { median, micros, type Row } from './row.ts';

const CREATES = 300;
/** The number of the smallest worthwhile swaps that the default cap leaves open. */
const USUALLY_OPEN = 16;
const MANY_OPEN = 300;
const ROUNDS = 20;
const AT_ONCE = 40;
const UPSTREAM_MS = 20;
/** A custodian counts bridge quotes in windows of two hours. */
const STEP_MS = 3 * 3_600_000;
const PLENTY = 10n ** 15n;
const LIMITS: CustodyLimits = {
  ...TEST_LIMITS,
  operation: PLENTY,
  hour: PLENTY,
  day: PLENTY,
  unsettled: PLENTY,
  cost_day: PLENTY,
  floor: lamports(0n),
};

type Spent = { sign: number; storage: number; statements: number };

async function openWorld(upstreamMs: number) {
  const spent: Spent = { sign: 0, storage: 0, statements: 0 };
  const { secretKey } = await createSolanaKey();
  const real = createSigner(secretKey);
  const storage = createSqliteStorage();
  const { exec } = storage;
  storage.exec = (query, ...params) => {
    const started = performance.now();
    try {
      return exec(query, ...params);
    } finally {
      spent.storage += performance.now() - started;
      spent.statements += 1;
    }
  };
  const world = createCustodianWorld(
    {
      limits: LIMITS,
      maxCreatesPerClientHour: 1_000_000,
      signer: {
        address: real.address,
        async sign(message) {
          const started = performance.now();
          const signature = await real.sign(message);
          spent.sign += performance.now() - started;
          return signature;
        },
      },
      assemble: assembleTransaction,
    },
    storage,
  );
  const wait = (): Promise<void> => (upstreamMs > 0 ? sleep(upstreamMs) : Promise.resolve());
  let deposits = 0;
  world.bridge.nextQuote = async (amount) => {
    await wait();
    const bytes = new Uint8Array(32).fill(9);
    new DataView(bytes.buffer).setUint32(0, ++deposits);
    return {
      ok: true,
      quote: quoteFor(amount, { depositAddress: encodeBase58(bytes), expiresAt: world.clock.now + STEP_MS }),
    };
  };
  const { nextBalance } = world.chain;
  world.chain.nextBalance = async (slot) => {
    await wait();
    return { ...(await nextBalance(slot)), lamports: lamports(PLENTY) };
  };
  const { readPrices, latestBlockhash } = world.swap;
  world.swap.readPrices = async () => {
    await wait();
    return readPrices();
  };
  world.swap.latestBlockhash = async () => {
    await wait();
    return latestBlockhash();
  };
  const { send } = world.chain;
  world.chain.send = async (wire) => {
    await wait();
    return send(wire);
  };
  return { world, spent };
}

/** One signature and two rows: the minimum work of a create. */
async function floorMicros(): Promise<number> {
  const { secretKey } = await createSolanaKey();
  const signer = createSigner(secretKey);
  const storage = createSqliteStorage();
  storage.exec('CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT)');
  const message = new Uint8Array(200).fill(1);
  const body = 'x'.repeat(1_500);
  const times: number[] = [];
  for (let index = 0; index < CREATES; index += 1) {
    const started = performance.now();
    storage.transaction(() => storage.exec('INSERT INTO rows (body) VALUES (?)', body));
    await signer.sign(message);
    storage.transaction(() => storage.exec('UPDATE rows SET body = ? WHERE id = ?', `${body}y`, index + 1));
    times.push((performance.now() - started) * 1_000);
  }
  return median(times.slice(CREATES / 4));
}

/** Consecutive creates in one custodian; none of them settles. */
async function createMany(count: number) {
  const { world, spent } = await openWorld(0);
  const times: { total: number; sign: number; storage: number; statements: number }[] = [];
  for (let index = 0; index < count; index += 1) {
    Object.assign(spent, { sign: 0, storage: 0, statements: 0 });
    world.clock.now += STEP_MS;
    const started = performance.now();
    const answer = await world.custody.createSwap(request({ client: `192.0.2.${index}` }));
    const total = performance.now() - started;
    if (answer.type !== 'created') throw new Error(`the bench's swap was refused: ${answer.refusal.code}`);
    times.push({ ...spent, total });
  }
  return times;
}

async function createRows(): Promise<Row[]> {
  const short = [];
  for (let round = 0; round < ROUNDS; round += 1) short.push(...(await createMany(USUALLY_OPEN)));
  const times = short.slice(short.length / 4);
  const us = (part: 'total' | 'sign' | 'storage'): number => median(times.map((time) => time[part] * 1_000));
  const statements = median(times.map((time) => time.statements));
  const many = median((await createMany(MANY_OPEN)).slice(-20).map(({ total }) => total * 1_000));
  const floor = await floorMicros();
  const beside = `signature and two rows, ${micros(floor)}`;
  const step = (what: string, time: number): Row => ({
    what: `create, of it ${what}`,
    ours: micros(time),
    limit: '',
    ratio: null,
    aim: null,
  });
  return [
    {
      what: 'swap create, our own time in the custodian',
      ours: micros(us('total')),
      limit: beside,
      ratio: us('total') / floor,
      aim: null,
    },
    step('signing', us('sign')),
    step(`SQLite, ${statements} statements`, us('storage')),
    step('checks, message, encoding, the rest', us('total') - us('sign') - us('storage')),
    {
      what: `the same with ${MANY_OPEN} open operations`,
      ours: micros(many),
      limit: `with up to ${USUALLY_OPEN}, ${micros(us('total'))}`,
      ratio: many / us('total'),
      aim: null,
    },
  ];
}

async function rateRow(): Promise<Row> {
  const { world } = await openWorld(UPSTREAM_MS);
  const started = performance.now();
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      world.custody.createSwap(request({ client: `192.0.2.${index}` })),
    ),
  );
  const seconds = (performance.now() - started) / 1_000;
  const made = answers.filter(({ type }) => type === 'created').length;
  return {
    what: `operations through one custodian, ${AT_ONCE} at once, every upstream ${UPSTREAM_MS} ms`,
    ours: `${(made / seconds).toFixed(0)}/s (${made} made)`,
    limit: '',
    ratio: null,
    aim: null,
  };
}

export const custodian = async (): Promise<Row[]> => [...(await createRows()), await rateRow()];
