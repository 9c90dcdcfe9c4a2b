/** Measures the deployed bundle: its size, and the processor time to the first response. */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { ed25519 } from '@noble/curves/ed25519.js';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { median, type Row } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';
import { workerCpuMs } from './worker-cpu.ts';

const STARTS = 7;
/** Thousands of gzipped bytes. */
const MAX_KILOBYTES = 600;
const MAX_START_MS = 250;

/** The URL of every upstream: a port on which nothing listens. */
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
  SOLANA_READ_RPC_URL: CLOSED,
  ESPLORA_API_URLS: CLOSED,
  PRICE_API_URLS: VENUE_NAMES.map((name) => `${name}=${CLOSED}`).join(','),
  NEAR_INTENTS_API_URL: CLOSED,
  NOSTR_RELAYS: 'ws://127.0.0.1:9',
};
/** Milliseconds of processor time of the runtime until its first response. */
async function start(worker: 'sluice' | 'limit', route: string): Promise<number> {
  const path = worker === 'sluice' ? sluiceBundle() : await ownBundle('limit');
  const runtime = await startRuntime({ [worker]: path }, SETTINGS);
  try {
    const response = await fetch(`${runtime.url(worker)}${route}`);
    await response.text();
    if (!response.ok) throw new Error(`${worker} returned ${response.status} for ${route}`);
    return workerCpuMs();
  } finally {
    await runtime.stop();
  }
}

export async function bundle(): Promise<Row[]> {
  const kilobytes = gzipSync(readFileSync(sluiceBundle())).length / 1_000;
  const starts: { ours: number; limit: number }[] = [];
  for (let index = 0; index < STARTS; index += 1)
    starts.push({ ours: await start('sluice', '/api/health'), limit: await start('limit', '/hono/none') });
  const ours = median(starts.map((pair) => pair.ours));
  const limit = median(starts.map((pair) => pair.limit));
  const above = median(starts.map((pair) => pair.ours - pair.limit));
  return [
    {
      what: 'bundle, minified and gzipped',
      ours: `${kilobytes.toFixed(0)} KB`,
      limit: `the target, ${MAX_KILOBYTES} KB`,
      ratio: kilobytes / MAX_KILOBYTES,
      target: { most: 1 },
    },
    {
      what: 'processor time of the runtime until its first response, minus that of bare Hono',
      ours: `${above.toFixed(0)} ms (median difference; medians ${ours.toFixed(0)} and ${limit.toFixed(0)})`,
      limit: `the target, ${MAX_START_MS} ms`,
      ratio: above / MAX_START_MS,
      target: { most: 1 },
    },
  ];
}
