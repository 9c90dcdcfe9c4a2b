/** @module-tag deep */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { checkService } from '../../scripts/doctor/check-service.ts';
import { useWorld } from '../world/use-world.ts';
import type { World } from '../world/world.ts';
import { createSwapCaller, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

let swapId: string;
const world = useWorld({ cron: false }, prepare);
const stored = (...parts: string[]): string => join(world.folder, 'storage', ...parts);

async function prepare(world: World): Promise<void> {
  await world.worker.kill();
  cpSync(stored('d1'), stored('d1-before'), { recursive: true });
  await world.worker.start();
  const caller = createSwapCaller(world);
  const { body } = await caller.create(0.5);
  swapId = String(body.id);
  await caller.settled(swapId);
  await world.worker.kill();
  for (const part of ['do', 'd1']) cpSync(stored(part), stored(`${part}-full`), { recursive: true });
}

/** Starts the Worker on its storage after these changes to it. */
async function startAfter({ object, database }: { object: 'full' | 'empty'; database: 'full' | 'before' }) {
  if (world.worker.url() !== null) await world.worker.kill();
  for (const part of ['do', 'd1']) rmSync(stored(part), { recursive: true });
  cpSync(stored('do-full'), stored('do'), { recursive: true });
  cpSync(stored(`d1-${database}`), stored('d1'), { recursive: true });
  const [custodian = ''] = readdirSync(stored('do')).filter((name) => name.includes('Custodian'));
  if (object === 'empty') rmSync(stored('do', custodian), { recursive: true });
  await world.worker.start();
}

async function ready(): Promise<{ status: number; reason: string | undefined }> {
  const response = await world.fetch('/api/ready');
  const { checks } = (await response.json()) as { checks: { ok: boolean; reason?: string }[] };
  return { status: response.status, reason: checks.find(({ ok }) => !ok)?.reason };
}

it.each([
  ['the object was emptied', 'full', 'journal_behind_mirror'],
  ['a new object has a key that has signed', 'before', 'journal_empty_but_reserve_has_signed'],
] as const)(
  'the service is never ready, signs nothing and informs the doctor when %s',
  async (_case, database, reason) => {
    await startAfter({ object: 'empty', database });
    const statuses: number[] = [];
    await until('the reason', async () => {
      const now = await ready();
      statuses.push(now.status);
      return now.reason === `signing is frozen: ${reason}` || undefined;
    });
    await sleep(2_500);
    statuses.push((await ready()).status);
    expect(new Set(statuses)).toEqual(new Set([503]));
    const create = await createSwapCaller(world).create(0.5);
    expect(create).toMatchObject({ status: 503, body: { error_code: 'SWAPS_PAUSED', details: { reason } } });
    const findings = await checkService(String(world.worker.url()), {});
    expect(findings.map(({ name }) => name)).toContain('signing-frozen');
  },
);

it('the custodian is ready again after D1 was restored to an older state, and the operator sends the lost rows', async () => {
  await startAfter({ object: 'full', database: 'before' });
  const isCustodyReady = async () => {
    const { checks } = (await (await world.fetch('/api/ready')).json()) as {
      checks: { name: string; ok: boolean }[];
    };
    return checks.some(({ name, ok }) => name === 'custody' && ok);
  };
  await until('the custodian', async () => (await isCustodyReady()) || undefined);
  await until('the row in D1', async () => {
    await createTokenCaller(world).ops('republish');
    const rows = await world.worker.query('SELECT id FROM operations WHERE signature = ?', [swapId]);
    return (rows as unknown[]).length === 1 || undefined;
  });
});
