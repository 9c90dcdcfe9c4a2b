/** The deployed bundle: size, time to the first answer, memory. */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { workerMegabytes } from '../../test/e2e/load-memory.ts';
import { median, type Row } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

const STARTS = 7;

/** Milliseconds from the start to the first answer, and the megabytes at that time. */
async function start(worker: 'sluice' | 'limit'): Promise<{ ms: number; megabytes: number }> {
  const path = worker === 'sluice' ? sluiceBundle() : await ownBundle('limit');
  const began = performance.now();
  const runtime = await startRuntime({ [worker]: path });
  try {
    const url = runtime.url(worker);
    const answer = await fetch(worker === 'sluice' ? `${url}/api/health` : `${url}/hono/none`);
    await answer.text();
    if (!answer.ok) throw new Error(`${worker} answers ${answer.status}`);
    return { ms: performance.now() - began, megabytes: workerMegabytes() };
  } finally {
    await runtime.stop();
  }
}

export async function bundle(): Promise<Row[]> {
  const kilobytes = gzipSync(readFileSync(sluiceBundle())).length / 1_024;
  const times: { ours: number; limit: number }[] = [];
  const memory: { ours: number; limit: number }[] = [];
  for (let index = 0; index < STARTS; index += 1) {
    const [ours, limit] = [await start('sluice'), await start('limit')];
    times.push({ ours: ours.ms, limit: limit.ms });
    memory.push({ ours: ours.megabytes, limit: limit.megabytes });
  }
  const extra = median(times.map(({ ours, limit }) => ours - limit));
  const [ours, limit] = [median(times.map((one) => one.ours)), median(times.map((one) => one.limit))];
  const [ourMb, limitMb] = [median(memory.map((one) => one.ours)), median(memory.map((one) => one.limit))];
  return [
    {
      what: 'bundle, minified and gzipped',
      ours: `${kilobytes.toFixed(0)} KB`,
      limit: 'the aim, 300 KB',
      ratio: kilobytes / 300,
      aim: { most: 1 },
    },
    {
      what: 'runtime start to first answer, above bare Hono',
      ours: `${extra.toFixed(0)} ms (${ours.toFixed(0)} against ${limit.toFixed(0)})`,
      limit: 'the aim, 50 ms',
      ratio: extra / 50,
      aim: { most: 1 },
    },
    {
      what: 'memory of the runtime after the first answer',
      ours: `${ourMb.toFixed(0)} MB`,
      limit: `bare Hono, ${limitMb.toFixed(0)} MB`,
      ratio: ourMb / limitMb,
      aim: null,
    },
  ];
}
