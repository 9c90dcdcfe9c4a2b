import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../scripts/command-line.ts';
import { chooseTarget, targetLine } from '../../scripts/target.ts';
import { scenes } from '../kit/scenes.ts';
import { serve } from '../kit/serve.ts';
import { useFolder } from '../kit/use-folder.ts';
import { announceWorld, findWorlds, removeKilledWorlds } from '../world/running-world.ts';

const worldAt = (url: string) => ({ url, controlUrl: 'http://c', bindings: { OPS_SECRET: `of ${url}` } });
const ONE = worldAt('http://127.0.0.1:8787');
const TWO = worldAt('http://127.0.0.1:8788');

/** Chooses the target of a command by its words: `origin=`, `--world`, `reads`, `changes`, and what surrounds it. */
function choose(words: string) {
  const given = Object.fromEntries(words.split(' ').map((word) => word.split('=')));
  const worlds = { one: [ONE], both: [ONE, TWO] }[String(given.worlds)] ?? [];
  return chooseTarget(
    {
      named: ['API_BASE_URL', given.origin === 'two' ? TWO.url : given.origin],
      world: '--world' in given,
      ...('changes' in given && { changes: true }),
    },
    { worlds, secret: given.secret ?? '' },
  );
}

it.each(
  scenes(`
    a named service with its secret                    | origin=https://sluice.example/ secret=s                   | https://sluice.example | s
    a named service among worlds                       | origin=https://sluice.example changes worlds=one secret=s | https://sluice.example | s
    a world named by its origin, with its own secret   | origin=two changes worlds=both                            | ${TWO.url}             | of ${TWO.url}
    one of two worlds by origin and --world            | origin=two --world worlds=both                            | ${TWO.url}             | of ${TWO.url}
    the only world for a command that reads            | worlds=one                                                | ${ONE.url}             | of ${ONE.url}
    the only world for a change with --world           | --world changes worlds=one secret=s                       | ${ONE.url}             | of ${ONE.url}
  `),
)('a command uses as its target %s', (_what, words = '', origin, secret) => {
  expect(choose(words)).toMatchObject({ origin, secret });
});

it.each(
  scenes(`
    nothing is named and no world runs |                                                    | No offline world runs here
    a change names no target           | changes worlds=one                                 | pass --world
    two worlds run                     | worlds=both                                        | 2 offline worlds run here. Name one with API_BASE_URL: ${ONE.url}, ${TWO.url}
    two worlds run, with --world       | --world worlds=both                                | 2 offline worlds
    only the secret is set             | worlds=one secret=s                                | OPS_SECRET is set without a service
    --world and a service are named    | origin=https://sluice.example --world worlds=one   | No offline world runs at https://sluice.example
    the origin is not a URL            | origin=sluice                                      | API_BASE_URL must be an http or https URL
  `),
)('a command refuses its target when %s', (_what, words = '', message = '') => {
  expect(() => choose(words)).toThrow(UsageError);
  expect(() => choose(words)).toThrow(message);
});

describe('the first line', () => {
  const stops: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(stops.map((stop) => stop())));
  async function says(body: string): Promise<string> {
    const { url, stop } = await serve((_request, response) => response.end(body));
    stops.push(stop);
    return url;
  }
  const line = (origin: string) => targetLine({ origin, world: undefined });

  it('the first line of a command names the origin, the release and the reserve', async () => {
    const release = { version: '1.2.0', commit: `${'0123456789'.repeat(4)}-dirty` };
    const origin = await says(JSON.stringify({ ok: true, release, reserveAddress: 'R' }));
    expect(await line(origin)).toBe(`Target: ${origin}, release 1.2.0 (012345678901-dirty), reserve R`);
    expect(await targetLine({ origin, world: worldAt(origin) })).toContain(`${origin} (offline world), `);
  });

  it('the first line says that an origin does not respond or is not a Sluice service', async () => {
    expect(await line('http://127.0.0.1:9')).toBe('Target: http://127.0.0.1:9, which does not respond');
    const other = await says('<html>');
    expect(await line(other)).toBe(`Target: ${other}, which is not a Sluice service (status 200)`);
  });
});

describe('the files of worlds', () => {
  const folder = useFolder('sluice-target-');
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
