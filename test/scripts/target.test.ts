import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../scripts/command-line.ts';
import { chooseTarget, targetLine } from '../../scripts/target.ts';
import { announceWorld, findWorlds, removeKilledWorlds } from '../world/running-world.ts';

const worldAt = (url: string) => ({ url, controlUrl: 'http://c', bindings: { OPS_SECRET: `of ${url}` } });
const ONE = worldAt('http://127.0.0.1:8787');
const TWO = worldAt('http://127.0.0.1:8788');

const choose = (
  given: { origin?: string; world?: boolean; changes?: boolean },
  surroundings: { worlds?: (typeof ONE)[]; secret?: string } = {},
) =>
  chooseTarget(
    {
      named: ['API_BASE_URL', given.origin],
      world: given.world ?? false,
      ...(given.changes === undefined ? {} : { changes: given.changes }),
    },
    { worlds: [], secret: '', ...surroundings },
  );

it.each([
  [
    'a named service with its secret',
    { origin: 'https://sluice.example/' },
    { secret: 's' },
    'https://sluice.example',
    's',
  ],
  [
    'a named service among worlds',
    { origin: 'https://sluice.example', changes: true },
    { worlds: [ONE], secret: 's' },
    'https://sluice.example',
    's',
  ],
  [
    'a world named by its origin, with its own secret',
    { origin: TWO.url, changes: true },
    { worlds: [ONE, TWO] },
    TWO.url,
    `of ${TWO.url}`,
  ],
  [
    'one of two worlds by origin and --world',
    { origin: TWO.url, world: true },
    { worlds: [ONE, TWO] },
    TWO.url,
    `of ${TWO.url}`,
  ],
  ['the only world for a command that reads', {}, { worlds: [ONE] }, ONE.url, `of ${ONE.url}`],
  [
    'the only world for a change with --world',
    { world: true, changes: true },
    { worlds: [ONE], secret: 's' },
    ONE.url,
    `of ${ONE.url}`,
  ],
] as const)(
  'a command uses as its target %s',
  (_what, given, {
    worlds = [],
    ...rest
  }: { worlds?: readonly (typeof ONE)[]; secret?: string }, origin, secret) => {
    expect(choose(given, { worlds: [...worlds], ...rest })).toMatchObject({ origin, secret });
  },
);

it.each([
  ['nothing is named and no world runs', {}, {}, 'No offline world runs here'],
  ['a change names no target', { changes: true }, { worlds: [ONE] }, 'pass --world'],
  [
    'two worlds run',
    {},
    { worlds: [ONE, TWO] },
    `2 offline worlds run here. Name one with API_BASE_URL: ${ONE.url}, ${TWO.url}`,
  ],
  ['two worlds run, with --world', { world: true }, { worlds: [ONE, TWO] }, '2 offline worlds'],
  ['only the secret is set', {}, { worlds: [ONE], secret: 's' }, 'OPS_SECRET is set without a service'],
  [
    '--world and a service are named',
    { origin: 'https://sluice.example', world: true },
    { worlds: [ONE] },
    'No offline world runs at https://sluice.example',
  ],
  ['the origin is no URL', { origin: 'sluice' }, {}, 'API_BASE_URL must be an http or https URL'],
] as const)(
  'a command refuses its target when %s',
  (_what, given, {
    worlds = [],
    ...rest
  }: { worlds?: readonly (typeof ONE)[]; secret?: string }, message) => {
    const choosing = () => choose(given, { worlds: [...worlds], ...rest });
    expect(choosing).toThrow(UsageError);
    expect(choosing).toThrow(message);
  },
);

describe('the first line', () => {
  const servers: { close(): void }[] = [];
  afterAll(() => {
    for (const server of servers) server.close();
  });
  async function serve(body: string): Promise<string> {
    const server = createServer((_request, response) => response.end(body));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  const line = (origin: string) => targetLine({ origin, world: undefined });

  it('the first line of a command names the origin, the release and the reserve', async () => {
    const release = { version: '1.2.0', commit: `${'0123456789'.repeat(4)}-dirty` };
    const origin = await serve(JSON.stringify({ ok: true, release, reserveAddress: 'R' }));
    expect(await line(origin)).toBe(`Target: ${origin}, release 1.2.0 (012345678901-dirty), reserve R`);
    expect(await targetLine({ origin, world: worldAt(origin) })).toContain(`${origin} (offline world), `);
  });

  it('the first line says that an origin does not respond or is not a Sluice service', async () => {
    expect(await line('http://127.0.0.1:9')).toBe('Target: http://127.0.0.1:9, which does not respond');
    const other = await serve('<html>');
    expect(await line(other)).toBe(`Target: ${other}, which is not a Sluice service (status 200)`);
  });
});

describe('the files of worlds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-target-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  /** No process has this id. */
  const DEAD = 2 ** 22 + 1;

  it('lists only running worlds and removes the files of killed ones', () => {
    const forget = announceWorld(ONE, folder);
    writeFileSync(join(folder, `${DEAD}.json`), JSON.stringify(TWO));
    writeFileSync(join(folder, `sluice-world-${DEAD}-abcdef`), '');
    writeFileSync(join(folder, `sluice-world-${process.pid}-abcdef`), '');
    expect(findWorlds(folder).map(({ url }) => url)).toEqual([ONE.url]);
    removeKilledWorlds(folder, folder);
    expect(readdirSync(folder).sort()).toEqual([`${process.pid}.json`, `sluice-world-${process.pid}-abcdef`]);
    forget();
    expect(findWorlds(folder)).toEqual([]);
  });
});
