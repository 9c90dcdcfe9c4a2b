import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { quoteBudgets } from '../../src/core/call-limits.ts';
import { AsryStore } from '../../src/custody/asry/asry-store.ts';
import { Agenda } from '../../src/custody/kernel/agenda.ts';
import { Journal } from '../../src/custody/kernel/journal.ts';
import { RequestStore } from '../../src/custody/payments/request-store.ts';
import { TreasuryStore } from '../../src/custody/payments/treasury-store.ts';
import { SwapQuotas } from '../../src/custody/swap/quota-store.ts';
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
  new AsryStore({ journal, storage, now: Date.now });
  new Agenda(storage, Date.now, () => undefined);
  new SwapQuotas(storage, Date.now, quoteBudgets(180));
  const tables = storage.exec("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  expect(namesBelow('## Journal tables').sort()).toEqual(tables.map(({ name }) => name));
  const declared = source.flatMap((text) =>
    [...text.matchAll(/CREATE TABLE IF NOT EXISTS (\w+)/g)].map(([, name]) => name),
  );
  expect([...new Set(declared)].sort()).toEqual(namesBelow('## Journal tables').sort());
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
