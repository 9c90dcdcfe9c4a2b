/** What is deployed: size, time and processor time to the first answer, memory. */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { workerCpuMs, workerMegabytes } from '../../test/e2e/load-memory.ts';
import { median, type Row } from './row.ts';
import { ownBundle, sluiceBundle, startRuntime } from './runtime.ts';

const STARTS = 7;
/** Thousand bytes, gzipped. */
const MAX_KILOBYTES = 280;
const MAX_START_MS = 60;
const MAX_FIRST_MS = 25;

interface Start {
  /** From nothing to the first answer, by the clock. */
  readonly ms: number;
  /** Processor time of the runtime until it serves, for the first request and for the second. */
  readonly cpu: number;
  readonly first: number;
  readonly second: number;
  readonly megabytes: number;
}

async function start(worker: 'sluice' | 'limit'): Promise<Start> {
  const path = worker === 'sluice' ? sluiceBundle() : await ownBundle('limit');
  const began = performance.now();
  const runtime = await startRuntime({ [worker]: path });
  try {
    const url =
      worker === 'sluice' ? `${runtime.url(worker)}/api/health` : `${runtime.url(worker)}/hono/none`;
    const request = async (): Promise<number> => {
      const before = workerCpuMs();
      const answer = await fetch(url);
      await answer.text();
      if (!answer.ok) throw new Error(`${worker} answers ${answer.status}`);
      return workerCpuMs() - before;
    };
    const cpu = workerCpuMs();
    const first = await request();
    const ms = performance.now() - began;
    return { ms, cpu, first, second: await request(), megabytes: workerMegabytes() };
  } finally {
    await runtime.stop();
  }
}

export async function bundle(): Promise<Row[]> {
  const kilobytes = gzipSync(readFileSync(sluiceBundle())).length / 1_000;
  const starts: { ours: Start; limit: Start }[] = [];
  for (let index = 0; index < STARTS; index += 1)
    starts.push({ ours: await start('sluice'), limit: await start('limit') });
  const ours = (of: keyof Start): number => median(starts.map((pair) => pair.ours[of]));
  const limit = (of: keyof Start): number => median(starts.map((pair) => pair.limit[of]));
  const above = (of: keyof Start): number => median(starts.map((pair) => pair.ours[of] - pair.limit[of]));
  const warmUp = median(starts.map((pair) => pair.ours.first - pair.ours.second));
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
      what: 'processor time of the runtime until it serves, above bare Hono',
      ours: `${above('cpu').toFixed(0)} ms (${figures('cpu')})`,
      limit: `the aim, ${MAX_START_MS} ms`,
      ratio: above('cpu') / MAX_START_MS,
      aim: { most: 1 },
    },
    {
      what: 'processor time of the first request, above the second',
      ours: `${warmUp.toFixed(0)} ms`,
      limit: `the aim, ${MAX_FIRST_MS} ms`,
      ratio: warmUp / MAX_FIRST_MS,
      aim: { most: 1 },
    },
    {
      what: 'runtime start to first answer by the clock, above bare Hono',
      ours: `${above('ms').toFixed(0)} ms (${figures('ms')})`,
      limit: `the sum of both aims, ${MAX_START_MS + MAX_FIRST_MS} ms`,
      ratio: above('ms') / (MAX_START_MS + MAX_FIRST_MS),
      aim: { most: 1 },
    },
    {
      what: 'memory of the runtime after the first answer',
      ours: `${ours('megabytes').toFixed(0)} MB`,
      limit: `bare Hono, ${limit('megabytes').toFixed(0)} MB`,
      ratio: ours('megabytes') / limit('megabytes'),
      aim: null,
    },
  ];
}
