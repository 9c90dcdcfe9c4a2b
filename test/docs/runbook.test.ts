import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ALARMS } from '../../src/features/status/alarm-rules.ts';

const page = readFileSync('docs/run/runbook.md', 'utf8');
const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(`src/${file}`, 'utf8'));

/** Names that some pattern finds in the source. */
const named = (...patterns: readonly RegExp[]): string[] => [
  ...new Set(
    sources.flatMap((text) =>
      patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name)),
    ),
  ),
];

/** First cells of the rows that have a meaning and an action. */
const cells = page
  .split('\n')
  .flatMap((line) =>
    /^\| .+ \| .{10,} \| .{4,} \|$/.test(line) ? [line.slice(2).split(' | ')[0] ?? ''] : [],
  );
/** The anchor of an alarm, to which its message links. */
const rowsOf = (name: string) => cells.filter((cell) => cell.includes(`<a id="${name}"></a>\`${name}\``));

it('the runbook has one row, marked as sent, for each alarm that is sent', () => {
  for (const name of ALARMS) {
    expect(rowsOf(name), name).toHaveLength(1);
    expect(rowsOf(name)[0]).toContain(`\`${name}\` **sent**`);
  }
  expect(page.split('` **sent**').length - 1).toBe(ALARMS.length);
});

it('the runbook has a row for each event that is logged as an alarm, and for no other', () => {
  const logged = named(
    /level: (?:'alarm'|[^,\n]*'alarm'[^,\n]*),\s*event: '(\w+)'/g,
    // A level that depends on the number of failures.
    /\{ level(?:: levelOf\(\w+\))?, event: '(\w+)'/g,
    /\balarm\(\w+, '(\w+)'/g,
  ).filter((event) => event !== 'alarms_changed');
  expect(logged.length).toBeGreaterThan(20);
  const anchors = [...page.matchAll(/<a id="(\w+)">/g)].map(([, name]) => name);
  expect(anchors.sort()).toEqual([...new Set([...logged, ...ALARMS, 'test_alarm'])].sort());
  for (const name of logged) expect(rowsOf(name), name).toHaveLength(1);
});

it('the runbook has a row for each reason that freezes signing', () => {
  const reasons = named(/'(journal_(?:behind|empty)_\w+)'/g, /\?\s*null : '(unverified)'/g);
  expect(reasons.length).toBeGreaterThan(3);
  for (const reason of [...reasons, 'storage_newer', 'unexpected_debit'])
    expect(cells, reason).toContain(`\`${reason}\``);
});

it('the runbook has a row for each reason why an operation awaits a decision of the operator', () => {
  const kernel = readFileSync('src/custody/kernel/reason.ts', 'utf8');
  const [, list = ''] = /const HELD = \[([\s\S]+?)\]/.exec(kernel) ?? [];
  const reasons = [...list.matchAll(/ '(\w+)',/g)].map(([, name]) => name);
  expect(reasons.length).toBeGreaterThan(2);
  for (const reason of reasons) expect(cells, reason).toContain(`\`held_${reason}\``);
});
