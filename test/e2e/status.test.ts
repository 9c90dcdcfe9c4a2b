import { afterAll, expect, it } from 'vitest';
import type { AlarmMessage } from '../../src/features/status/check-alarms.ts';
import { VENUE_NAMES } from '../../src/providers/price-venues.ts';
import { startWebhook } from '../kit/serve.ts';
import type { UpstreamName } from '../world/bindings.ts';
import { useWorld } from '../world/use-world.ts';
import { ask, command, mintEnds, until } from './swap-caller.ts';

type Status = {
  readonly ok: boolean;
  readonly upstreams: readonly { name: string; ok: boolean; needed: boolean; ms: number }[];
};

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
  const status = await until('green', async () => {
    const { body } = await ask(world, '/api/status');
    return (body as Status).ok ? (body as Status) : undefined;
  });
  expect(status).toMatchObject({ stale: false, alarms: [] });
  expect(status.upstreams.map(({ name, needed }) => [name, needed])).toEqual(Object.values(NAMES));
  for (const { ok, ms } of status.upstreams) expect([ok, Number.isInteger(ms)]).toEqual([true, true]);
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
