import { afterAll, expect, it } from 'vitest';
import type { AlarmMessage } from '../../src/features/status/check-alarms.ts';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { startWebhook } from '../kit/serve.ts';
import type { UpstreamName } from '../world/bindings.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { command, createSwapCaller, mintEnds, until } from './swap-caller.ts';

type Json = Record<string, unknown>;
interface Status extends Json {
  readonly ok: boolean;
  readonly upstreams: readonly { name: string; ok: boolean; needed: boolean; ms: number }[];
  readonly custody: Json & { limits: readonly { name: string; used: string; maximum: string }[] };
  readonly operations: readonly Json[];
  readonly alarms: readonly string[];
}

const MINUTE = '* * * * *';
let webhook: Awaited<ReturnType<typeof startWebhook>>;
const messages = () => webhook.messages.map((text) => JSON.parse(text) as AlarmMessage);

afterAll(() => webhook?.stop());
const world = useWorld(
  async () => {
    webhook = await startWebhook();
    const vars = { ALARM_WEBHOOK_URL: webhook.url };
    return { cron: false, blockMs: 0, slotMs: 20, settleDelayMs: 200, vars };
  },
  async (world) => {
    await world.control.cron(MINUTE);
    await mintEnds(world);
  },
);
const caller = lazy(() => createSwapCaller(world));

const read = async (): Promise<Status> => (await caller.get('/api/status')).body as Status;
/** The status once the condition holds; its parts are at most a few seconds old. */
const shows = (what: string, found: (status: Status) => boolean): Promise<Status> =>
  until(what, async () => {
    const status = await read();
    return found(status) ? status : undefined;
  });
/** The status's name for each upstream of the world, and whether money depends on it. */
const NAMES: Readonly<Partial<Record<UpstreamName, readonly [name: string, needed: boolean]>>> = {
  rpc1: ['solana-rpc-1', true],
  rpc2: ['solana-rpc-2', true],
  rpcRead: ['solana-read-1', false],
  esplora1: ['esplora-1', true],
  esplora2: ['esplora-2', true],
  ...Object.fromEntries(VENUE_NAMES.map((name) => [name, [name, true]])),
  oneclick: ['near-intents', true],
  orca: ['orca', false],
  changenow: ['changenow', false],
  relay1: ['relay-1', false],
  relay2: ['relay-2', false],
};

it('the status of a healthy service is green and shows each upstream', async () => {
  const status = await shows('green', ({ ok }) => ok);
  expect(status).toMatchObject({ stale: false, alarms: [] });
  expect(status.upstreams.map(({ name, needed }) => [name, needed])).toEqual(Object.values(NAMES));
  for (const { ok, ms } of status.upstreams) expect([ok, Number.isInteger(ms)]).toEqual([true, true]);
});

const usedOf = ({ limits }: { limits: readonly { name: string; used: string }[] }, name: string) =>
  limits.find((limit) => limit.name === name)?.used;

it('the status of an unsettled swap shows exposure, used limits and the operation without its key', async () => {
  world.faults.set('oneclick', { kind: 'settle', mode: 'never' });
  const { body } = await caller.create(0.5, { key: 'status-0123456789abcdef' });
  // Custodian and database are read each at its own time.
  const status = await shows(
    'the exposure',
    ({ custody, operations }) => usedOf(custody, 'unsettled') === '500000000' && operations?.length === 2,
  );
  expect(status.custody).toMatchObject({
    frozen: null,
    paused: null,
    openOperations: 1,
    heldOperations: 0,
  });
  for (const name of ['operation', 'hour', 'day', 'unsettled'])
    expect([name, usedOf(status.custody, name)]).toEqual([name, name === 'operation' ? '0' : '500000000']);
  expect(usedOf(status.custody, 'cost_day')).toMatch(/^[1-9]\d{6}$/);
  expect(status.operations).toMatchObject([
    { kind: 'swap', status: 'waiting', signature: body.id, amountLamports: '500000000' },
    { kind: 'absr', status: 'finished', detail: 'done' },
  ]);
  expect(JSON.stringify(status)).not.toContain('status-0123456789abcdef');
});

it('a test alarm arrives with the name of the service and a link to the runbook', async () => {
  const before = messages().length;
  await command(world, { name: 'test-alarm' });
  expect(messages().slice(before)).toMatchObject([
    {
      service: world.url,
      active: [],
      alarms: [{ name: 'test_alarm', change: 'test' }],
    },
  ]);
  const link = messages().at(-1)?.alarms[0]?.runbook ?? '';
  expect(link).toBe(`${world.url}/runbook#test_alarm`);
  expect(await (await fetch(link)).text()).toContain('id="test_alarm"');
});
