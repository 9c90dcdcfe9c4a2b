/** Measures the deployed bundle: size, processor time to the first response, memory. */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { ed25519 } from '@noble/curves/ed25519.js';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { workerCpuMs, workerMegabytes } from '../../test/e2e/load-memory.ts';
import { median, type Row } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

const STARTS = 7;
/** Thousands of gzipped bytes. */
const MAX_KILOBYTES = 600;
const MAX_START_MS = 250;

/** A closed port. */
const CLOSED = 'http://127.0.0.1:9';
const SEED = new Uint8Array(32).fill(7);
/** Settings of production, because an isolate's first request reads them. */
const SETTINGS: Readonly<Record<string, string>> = {
  OPS_SECRET: 'x'.repeat(40),
  RESERVE_SOLANA_ADDRESS: encodeBase58(ed25519.getPublicKey(SEED)),
  SOLANA_PRIVATE_KEY: encodeBase58(new Uint8Array([...SEED, ...ed25519.getPublicKey(SEED)])),
  RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  PUBLIC_BASE_URL: 'https://sluice.example',
  MINT_KEY_SEED: 'a'.repeat(64),
  ASRY_MINT_ADDRESS: encodeBase58(SEED),
  ABSR_MINT_ADDRESS: encodeBase58(SEED),
  SOLANA_RPC_URL: CLOSED,
  ESPLORA_API_URLS: CLOSED,
  PRICE_API_URLS: VENUE_NAMES.map((name) => `${name}=${CLOSED}`).join(','),
  NEAR_INTENTS_API_URL: CLOSED,
  NOSTR_RELAYS: 'ws://127.0.0.1:9',
};
interface Start {
  /** Processor time of the runtime until its first response. */
  readonly cpu: number;
  readonly megabytes: number;
}

async function start(worker: 'sluice' | 'limit', route: string): Promise<Start> {
  const path = worker === 'sluice' ? sluiceBundle() : await ownBundle('limit');
  const runtime = await startRuntime({ [worker]: path }, SETTINGS);
  try {
    const response = await fetch(`${runtime.url(worker)}${route}`);
    await response.text();
    if (!response.ok) throw new Error(`${worker} returned ${response.status} for ${route}`);
    return { cpu: workerCpuMs(), megabytes: workerMegabytes() };
  } finally {
    await runtime.stop();
  }
}

export async function bundle(): Promise<Row[]> {
  const kilobytes = gzipSync(readFileSync(sluiceBundle())).length / 1_000;
  const starts: { ours: Start; limit: Start }[] = [];
  for (let index = 0; index < STARTS; index += 1)
    starts.push({ ours: await start('sluice', '/api/health'), limit: await start('limit', '/hono/none') });
  const ours = (of: keyof Start): number => median(starts.map((pair) => pair.ours[of]));
  const limit = (of: keyof Start): number => median(starts.map((pair) => pair.limit[of]));
  const above = (of: keyof Start): number => median(starts.map((pair) => pair.ours[of] - pair.limit[of]));
  const figures = (of: keyof Start): string => `${ours(of).toFixed(0)} against ${limit(of).toFixed(0)}`;
  return [
    {
      what: 'bundle, minified and gzipped',
      ours: `${kilobytes.toFixed(0)} KB`,
      limit: `the aim, ${MAX_KILOBYTES} KB`,
      ratio: kilobytes / MAX_KILOBYTES,
      aim: { most: 1 },
    },
    {
      what: 'processor time of the runtime until its first response, above bare Hono',
      ours: `${above('cpu').toFixed(0)} ms (${figures('cpu')})`,
      limit: `the aim, ${MAX_START_MS} ms`,
      ratio: above('cpu') / MAX_START_MS,
      aim: { most: 1 },
    },
    {
      what: 'memory of the runtime after the first response',
      ours: `${ours('megabytes').toFixed(0)} MB`,
      limit: `bare Hono, ${limit('megabytes').toFixed(0)} MB`,
      ratio: ours('megabytes') / limit('megabytes'),
      aim: null,
    },
  ];
}
