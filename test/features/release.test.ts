import { expect, it } from 'vitest';
import { readRelease } from '../../src/features/status/get-status.ts';
import { Cache } from '../../src/http/cached.ts';

const metadata = { id: 'v-1', timestamp: '2026-11-20T12:00:00.000Z' };
const serving = (answers: readonly Response[]) => {
  const paths: string[] = [];
  const left = [...answers];
  const fetch = async (url: unknown): Promise<Response> => {
    paths.push(new URL(String(url)).pathname);
    return left.shift() ?? new Response('', { status: 500 });
  };
  return { paths, assets: { fetch } as unknown as Fetcher };
};

it("reads the release's version and commit from the build once", async () => {
  const { assets, paths } = serving([Response.json({ version: '0.1.0', commit: 'abc-dirty' })]);
  const memory = new Cache({ now: Date.now, defer: () => undefined });
  const read = () => readRelease({ assets, memory, metadata });
  const release = { version: '0.1.0', commit: 'abc-dirty', id: 'v-1', deployedAt: metadata.timestamp };
  expect(await Promise.all([read(), read()])).toEqual([release, release]);
  expect(await read()).toEqual(release);
  expect(paths).toEqual(['/build.json']);
});

it('returns null for release data that cannot be read, and reads them again a minute later', async () => {
  const { assets } = serving([
    new Response('<html>', { status: 404 }),
    Response.json({ version: '0.1.0', commit: null }),
  ]);
  let now = 0;
  const memory = new Cache({ now: () => now, defer: () => undefined });
  const read = () => readRelease({ assets, memory, metadata: undefined });
  expect(await read()).toEqual({ version: null, commit: null, id: null, deployedAt: null });
  now += 60_000;
  expect(await read()).toEqual({ version: '0.1.0', commit: null, id: null, deployedAt: null });
});
