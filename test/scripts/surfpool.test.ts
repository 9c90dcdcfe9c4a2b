import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { surfpoolMissing } from '../world/surfpool.ts';

const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  optionalDependencies: Record<string, string>;
};

it.each(['linux-arm64', 'win32-x64', 'linux-riscv64'])(
  'one line names the missing package and the supported platforms on %s',
  (platform) => {
    const line = surfpoolMissing(platform);
    expect(line).toMatch(
      new RegExp(`^npm has no Surfpool for ${platform}, .*Linux x64 .*macOS.*linux/amd64.*wrangler dev`),
    );
    expect(line).not.toContain('\n');
  },
);

it('names the missing package and the command that installs it on a supported platform', () => {
  const other = process.platform === 'darwin' ? 'linux-x64' : 'darwin-arm64';
  expect(surfpoolMissing(other)).toMatch(
    /^The offline world needs @solana\/surfpool-\S+, which is not installed\. Run `npm ci`/,
  );
});

it('accepts exactly the Surfpool platforms of package.json', () => {
  const packages = Object.keys(optionalDependencies).filter((name) => name.startsWith('@solana/surfpool-'));
  const platforms = packages.map((name) => name.replace(/^@solana\/surfpool-|-gnu$/g, ''));
  for (const platform of platforms)
    expect(surfpoolMissing(platform) ?? '').not.toContain('npm has no Surfpool');
  expect(platforms.toSorted()).toEqual(['darwin-arm64', 'darwin-x64', 'linux-x64']);
});
