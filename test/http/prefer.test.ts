import { expect, it } from 'vitest';
import { preferredWaitMs } from '../../src/http/wait.ts';
import { eachResult } from '../kit/scenes.ts';

eachResult(`
  0         | wait=0
  20000     | wait=20 | WAIT=20 | wait="20" | wait = 20
  10000     | respond-async, wait=10 | wait=10; foo=bar
  2000      | foo="a, wait=1", wait=2
  3000      | wait=3, wait=40
  55000     | wait=600 | wait=999999999
  undefined | | wait | wait= | wait=-1 | wait=1.5 | wait=abc | wait=1e3 | waiting=5 | " | x=wait=5
`)('the header "Prefer: %s" asks for a wait of %s ms', (header, ms) => {
  expect(String(preferredWaitMs(header))).toBe(ms);
});

it('a request without a Prefer header does not wait', () => {
  expect(preferredWaitMs(undefined)).toBeUndefined();
});
