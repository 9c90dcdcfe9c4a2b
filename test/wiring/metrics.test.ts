import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/core/errors.ts';
import { METRICS, pointsOf } from '../../src/wiring/telemetry.ts';

const REQUEST = { method: 'GET', route: '/api/tokens/:id', status: 200, ms: 7 };

describe('a log line becomes data points', () => {
  it('of a request: template, method, status, code and duration', () => {
    expect(pointsOf({ level: 'info', request_id: 'r', ...REQUEST })).toEqual([
      { indexes: ['request'], blobs: ['/api/tokens/:id', 'GET', '200', ''], doubles: [7] },
    ]);
    expect(pointsOf({ ...REQUEST, status: 503, code: 'DATABASE_UNAVAILABLE' })[0]?.blobs).toEqual([
      '/api/tokens/:id',
      'GET',
      '503',
      'DATABASE_UNAVAILABLE',
    ]);
  });

  it('of an operation: state and amounts, without its id', () => {
    const line = {
      level: 'info',
      event: 'operation_changed',
      operation: 'swap:the-callers-key',
      kind: 'swap',
      state: 'done',
      detail: 'done',
      reason: null,
      lamports: 500_000_000n,
      satoshis: '61975',
      ms: 61_000,
    };
    expect(pointsOf(line)).toEqual([
      { indexes: ['operation'], blobs: ['swap', 'done', 'done', ''], doubles: [500_000_000, 61_975, 61_000] },
    ]);
  });

  it('of an operation that was signed: a signature as well', () => {
    const line = {
      event: 'operation_changed',
      kind: 'token',
      state: 'signed',
      detail: 'signed',
      lamports: 0n,
    };
    expect(pointsOf(line).map(({ indexes, blobs }) => [...indexes, ...blobs])).toEqual([
      ['operation', 'token', 'signed', 'signed', ''],
      ['signing', 'token', 'signed', ''],
    ]);
  });

  it('of a failed signature: the reason', () => {
    const line = {
      level: 'warn',
      event: 'sign_failed',
      operation: 'swap:x',
      kind: 'swap',
      reason: 'timeout',
    };
    expect(pointsOf(line)).toEqual([
      { indexes: ['signing'], blobs: ['swap', 'failed', 'timeout'], doubles: [] },
    ]);
  });

  it('of an upstream call have name, outcome and duration', () => {
    const call = { event: 'upstream_called', upstream: 'esplora-1', outcome: 'status_5xx', ms: 31 };
    expect(pointsOf(call)).toEqual([
      { indexes: ['upstream'], blobs: ['esplora-1', 'status_5xx'], doubles: [31] },
    ]);
  });

  it('of alarms: one for each that was raised, cleared or only logged', () => {
    const line = { level: 'alarm', event: 'alarms_changed', raised: ['sol_low'], cleared: ['cron_missing'] };
    expect(pointsOf(line).map(({ blobs }) => blobs)).toEqual([
      ['sol_low', 'raised'],
      ['cron_missing', 'cleared'],
    ]);
    expect(pointsOf({ level: 'alarm', event: 'signing_frozen', reason: 'x' })[0]?.blobs).toEqual([
      'signing_frozen',
      'logged',
    ]);
  });

  it('none of any other line', () => {
    expect(pointsOf({ level: 'warn', event: 'prepare_failed', operation: 'swap:x' })).toEqual([]);
    expect(pointsOf({ level: 'error', unexpected: 'TypeError', stack: 'at ...' })).toEqual([]);
  });
});

describe('a label is a name of the code', () => {
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 64 });
  const base58 = fc.string({
    unit: fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'),
    minLength: 32,
    maxLength: 88,
  });
  const caller = fc.oneof(fc.ipV4(), fc.ipV6(), fc.uuid(), fc.emailAddress(), hex, base58);

  it('contain no id, address or hash', () => {
    fc.assert(
      fc.property(caller, (text) => {
        const line = { kind: text, state: text, detail: text, reason: text, upstream: text, outcome: text };
        for (const event of ['operation_changed', 'sign_failed', 'upstream_called'])
          for (const { blobs } of pointsOf({ event, ...line })) expect(blobs).not.toContain(text);
        expect(pointsOf({ event: 'alarms_changed', raised: [text], cleared: [] })[0]?.blobs[0]).toBe('other');
        expect(pointsOf({ ...REQUEST, method: text, status: text, code: text })[0]?.blobs).toEqual([
          '/api/tokens/:id',
          'other',
          'other',
          'other',
        ]);
      }),
    );
  });

  it('every error code and every event that is logged as an alarm is one', () => {
    for (const code of Object.keys(ERRORS)) expect(pointsOf({ ...REQUEST, code })[0]?.blobs[3]).toBe(code);
    const source = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(`src/${file}`, 'utf8'))
      .join('\n');
    const events = [...source.matchAll(/\bevent: '(\w+)'/g)].map(([, event]) => event);
    expect(events.length).toBeGreaterThan(20);
    for (const event of events)
      expect(pointsOf({ event: 'alarms_changed', raised: [event], cleared: [] })[0]?.blobs[0]).toBe(event);
  });

  it('the limits of the platform hold: 20 labels, 20 values, 96 bytes of index', () => {
    for (const [name, { labels, values }] of Object.entries(METRICS)) {
      expect(labels.length).toBeLessThanOrEqual(20);
      expect(values.length).toBeLessThanOrEqual(20);
      expect(name.length).toBeLessThanOrEqual(96);
    }
  });
});
