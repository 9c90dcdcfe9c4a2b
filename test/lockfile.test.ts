import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

type Locked = {
  optionalDependencies?: Record<string, string>;
  resolved?: string;
  integrity?: string;
  optional?: boolean;
  os?: string[];
};

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Locked>;
};

/** npm searches a dependency next to its parent first, then in every enclosing node_modules. */
function isLocked(parent: string, name: string): boolean {
  for (let at = parent; ; at = at.slice(0, Math.max(at.lastIndexOf('/node_modules/'), 0))) {
    if (packages[`${at ? `${at}/` : ''}node_modules/${name}`]) return true;
    if (!at) return false;
  }
}

// npm omits a platform package that it cannot see when locking, and then `npm ci` refuses its own lockfile.
it('every optional platform package has its lockfile entry', () => {
  const missing = Object.entries(packages).flatMap(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((name) => !isLocked(path, name))
      .map((name) => `${name} of ${path}`),
  );
  expect(missing).toEqual([]);
});

/** Packages of platforms that the locking machine's registry did not have; npm installs them without a checksum. */
const UNKNOWN_CHECKSUM =
  /(^|\/)node_modules\/(@biomejs\/cli|@cloudflare\/workerd)-(android|darwin|linux|win32|windows)-[\w-]+$/;

it('every package has a checksum, except platform packages of Biome and workerd', () => {
  const without = Object.entries(packages).filter(([path, entry]) => path !== '' && !entry.integrity);
  expect(without.filter(([path]) => !UNKNOWN_CHECKSUM.test(path)).map(([path]) => path)).toEqual([]);
  expect(without.filter(([, entry]) => !entry.optional || !entry.os).map(([path]) => path)).toEqual([]);
  expect(without.length).toBeLessThanOrEqual(14);
});

it('package-lock.json names no registry host', () => {
  const hosts = Object.values(packages).filter((entry) => entry.resolved?.startsWith('http'));
  expect(hosts).toEqual([]);
});
