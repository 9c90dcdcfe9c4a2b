import { expect, it } from 'vitest';
import { MAX_PREFERRED_WAIT_SECONDS, preferredWaitMs } from '../../src/http/wait.ts';

it.each([
  ['wait=0', 0],
  ['wait=20', 20_000],
  ['WAIT=20', 20_000],
  ['wait="20"', 20_000],
  ['wait = 20', 20_000],
  ['respond-async, wait=10', 10_000],
  ['wait=10; foo=bar', 10_000],
  ['foo="a, wait=1", wait=2', 2_000],
])('reads the wait from "Prefer: %s"', (header, ms) => {
  expect(preferredWaitMs(header)).toBe(ms);
});

it('uses the first wait if a Prefer header has several', () => {
  expect(preferredWaitMs('wait=3, wait=40')).toBe(3_000);
});

it.each(['wait=600', 'wait=999999999'])('limits "Prefer: %s" to the longest allowed wait', (header) => {
  expect(preferredWaitMs(header)).toBe(MAX_PREFERRED_WAIT_SECONDS * 1_000);
});

it.each([
  undefined,
  '',
  'wait',
  'wait=',
  'wait=-1',
  'wait=1.5',
  'wait=abc',
  'wait=1e3',
  'waiting=5',
  '"',
  'x=wait=5',
])('finds no wait in the Prefer header %j', (header) => {
  expect(preferredWaitMs(header)).toBeUndefined();
});
