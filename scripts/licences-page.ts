import { readFileSync } from 'node:fs';
import { withRows } from './table-rows.ts';

interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

/** Licences that only require a copy of their text. */
export const ALLOWED_LICENCES: readonly string[] = [
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'CC0-1.0',
  'Unlicense',
];

/**
 * The packages that `npm ci --omit=dev --omit=optional` installs: all that can be in the Worker or the MCP
 * server.
 */
export function productionDependencies() {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const found = new Map<string, { name: string; version: string; licence: string }>();
  for (const [path, { version = '', license = 'none', dev, devOptional, optional }] of Object.entries(
    lock.packages,
  )) {
    if (path === '' || dev || devOptional || optional) continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    found.set(`${name} ${version}`, { name, version, licence: license });
  }
  return [...found.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** One row for each licence. The packages of a scope that have the same version are named together. */
export function withLicences(page: string): string {
  const licences = Map.groupBy(productionDependencies(), ({ licence }) => licence);
  const rows = [...licences].map(([licence, packages]) => {
    const groups = Map.groupBy(packages, ({ name, version }) =>
      [name.startsWith('@') ? name.split('/')[0] : name, version].join(' '),
    );
    const names = [...groups].map(([scope, members]) =>
      members.length === 1
        ? members.map(({ name, version }) => `${name} ${version}`).join()
        : scope.replace(' ', `/* (${members.length}) `),
    );
    return `| ${licence} | ${names.join(', ')} |`;
  });
  return withRows(page, '| licence |', rows.sort());
}
