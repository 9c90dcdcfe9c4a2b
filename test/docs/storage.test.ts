import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { AsryStore } from '../../src/custody/asry/asry-store.ts';
import { Agenda } from '../../src/custody/kernel/agenda.ts';
import { Journal } from '../../src/custody/kernel/journal.ts';
import { RequestStore } from '../../src/custody/payments/request-store.ts';
import { TreasuryStore } from '../../src/custody/payments/treasury-store.ts';
import { TokenStore } from '../../src/custody/tokens/token-store.ts';
import { createSqliteStorage } from '../kit/sqlite-storage.ts';

const page = readFileSync('docs/run/storage.md', 'utf8');

/** Names in the first column of the table below a heading. */
function namesBelow(heading: string): string[] {
  const [, section = ''] = page.split(`${heading}\n`);
  const rows = (section.split(/^#/m)[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  return rows.flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

const source = readdirSync('src/custody', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(`src/custody/${file}`, 'utf8'));

it('docs/run/storage.md lists every table of the journal', () => {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  new RequestStore(storage);
  new TokenStore({ journal, storage, now: Date.now });
  new TreasuryStore(storage);
  new AsryStore(storage, Date.now);
  new Agenda(storage, Date.now, () => undefined);
  const tables = storage.exec("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  expect(namesBelow('## Journal tables').sort()).toEqual(tables.map(({ name }) => name));
  const declared = source.flatMap((text) =>
    [...text.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(([, name]) => name),
  );
  expect([...new Set(declared)].sort()).toEqual(namesBelow('## Journal tables').sort());
});

it('docs/run/storage.md lists every key of the journal’s meta table', () => {
  const constantsOf = (text: string) =>
    [...text.matchAll(/^(?:export )?const (\w+) = '([^']+)';/gm)].map(
      ([, name, value]) => [name, value] as const,
    );
  const exported = source.flatMap((text) => constantsOf(text));
  const keys = source.flatMap((text) => {
    const constants = new Map([...exported, ...constantsOf(text)]);
    const prefixes = [...text.matchAll(/^ *const key(?:Of)? = (?:.*=> )?`(\w+:)\$\{/gm)].map(
      ([, prefix]) => prefix,
    );
    return [
      ...(/\b[gs]et(?:Meta|Time)\(key/.test(text) ? prefixes : []),
      ...[...text.matchAll(/\b[gs]etMeta\(['`](\w+:?)/g)].map(([, key]) => key),
      ...[...text.matchAll(/\b[gs]et(?:Meta|Time)\(([A-Z]\w*)/g)].map(([, name]) => constants.get(name)),
      ...[...text.matchAll(/#known\('(\w+)'/g)].map(([, key]) => key),
      ...[...text.matchAll(/INTO meta \(key, value\) VALUES \('(\w+)'/g)].map(([, key]) => key),
    ];
  });
  const shown = namesBelow('### Keys of `meta`').map((key) => key.replace(/<.*/, ''));
  expect([...new Set(keys)].sort()).toEqual(shown.sort());
});

it('src/custody uses each kind of name that docs/run/storage.md lists for the table `claims`', () => {
  const names = source.flatMap((text) =>
    [...text.matchAll(/`([a-z-]+):\$\{[^`]*`/g)].map(([, kind]) => kind),
  );
  for (const name of namesBelow('### Names of `claims`')) expect(names).toContain(name.split(':')[0]);
});

it('docs/run/storage.md lists every table of D1', () => {
  const schema = readFileSync('schema.sql', 'utf8');
  const tables = [...schema.matchAll(/^CREATE (?:VIRTUAL )?TABLE IF NOT EXISTS (\w+)/gm)].map(
    ([, name]) => name,
  );
  expect(namesBelow('## D1 tables').sort()).toEqual(tables.sort());
});

it('docs/run/storage.md lists every table of the page views', () => {
  const store = readFileSync('src/features/analytics/page-views-store.ts', 'utf8');
  const tables = [...store.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(([, name]) => name);
  expect(namesBelow('## Page-view tables').sort()).toEqual(tables.sort());
});
