/**
 * Destinations of log lines: the console and, as data points, the optional Analytics Engine binding
 * `METRICS`. A point contains no id, no address and no text chosen by a caller. Upstream calls are counted
 * through the clients' `fetch`.
 * @module
 */

import { type Config, type OptionalBindings, readConfig } from '../config.ts';
import { upstreamFailed } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { Admission } from '../providers/admission.ts';
import type { Fetch } from '../providers/http.ts';

/** Fields of each metric. The order is the column: labels are blob1, blob2, ...; values are double1, double2, ... */
export const METRICS = {
  request: { labels: ['route', 'method', 'status', 'code'], values: ['ms'] },
  operation: { labels: ['kind', 'state', 'detail', 'reason'], values: ['lamports', 'satoshis', 'ms'] },
  signing: { labels: ['kind', 'outcome', 'reason'], values: [] },
  upstream: { labels: ['upstream', 'outcome'], values: ['ms'] },
  alarm: { labels: ['alarm', 'change'], values: [] },
} as const;

export type Metric = keyof typeof METRICS;

export type Line = Readonly<Record<string, unknown>>;

/** The argument of an Analytics Engine binding's `writeDataPoint`. */
export type DataPoint = { readonly indexes: [Metric]; readonly blobs: string[]; readonly doubles: number[] };

const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'];
/** A name in the code: a code, an event, an upstream. Shorter than any address, signature, hash or UUID. */
const NAME = /^[a-z][\w-]{0,30}$/i;
/** A path pattern of the router. */
const ROUTE = /^\/[\w/:{}.*-]{0,95}$/;

/** Text that is not a name from the code becomes `other`, so external input adds no value to a label. */
function label(field: string, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (field === 'method') return METHODS.includes(String(value)) ? String(value) : 'other';
  if (field === 'status') return /^[1-5]\d\d$/.test(String(value)) ? String(value) : 'other';
  return (field === 'route' ? ROUTE : NAME).test(String(value)) ? String(value) : 'other';
}

/** The log has atoms as bigint. A double is exact up to 2^53. */
const double = (value: unknown): number => Number(value ?? 0) || 0;

const point = (metric: Metric, line: Line): DataPoint => ({
  indexes: [metric],
  blobs: METRICS[metric].labels.map((field) => label(field, line[field])),
  doubles: METRICS[metric].values.map((field) => double(line[field])),
});

const alarms = (names: unknown, change: string): DataPoint[] =>
  Array.isArray(names) ? names.map((alarm: unknown) => point('alarm', { alarm, change })) : [];

/** The data points of one log line: none for most lines. */
export function pointsOf(line: Line): DataPoint[] {
  switch (line.event) {
    case undefined:
      return typeof line.route === 'string' ? [point('request', line)] : [];
    case 'upstream_called':
      return [point('upstream', line)];
    case 'operation_changed':
      return [
        point('operation', line),
        ...(line.detail === 'signed' ? [point('signing', { ...line, outcome: 'signed' })] : []),
      ];
    case 'sign_failed':
      return [point('signing', { ...line, outcome: 'failed' })];
    case 'alarms_changed':
      return [...alarms(line.raised, 'raised'), ...alarms(line.cleared, 'cleared')];
    default:
      return line.level === 'alarm' ? [point('alarm', { alarm: line.event, change: 'logged' })] : [];
  }
}

export type Telemetry = {
  readonly log: (line: Line) => void;
  /** Counts an upstream call. It is not logged, because each request makes several. */
  readonly observe?: Fetch['observe'];
};

/** A configuration with what its clients share. Without telemetry they log to the console only. */
export type Wired = Config & { readonly telemetry?: Telemetry; readonly admission?: Admission };

/** Of this many requests without an error, one is written to the log, because the platform charges for each line. */
const REQUESTS_PER_LINE = 100;

/** Writes every failure, alarm and event, and a share of the successful requests. No line has a client's address. */
export function log(line: Line): void {
  const isSuccess = line.route !== undefined && Number(line.status) < 400;
  if (!isSuccess) console.log(stringifyJson(line));
  else if (Math.random() * REQUESTS_PER_LINE < 1)
    console.log(stringifyJson({ ...line, requests: REQUESTS_PER_LINE }));
}

function telemetry({ METRICS }: Env & OptionalBindings): Telemetry {
  if (METRICS === undefined) return { log };
  function write(line: Line): void {
    try {
      for (const point of pointsOf(line)) METRICS?.writeDataPoint(point);
    } catch (error) {
      // Only the metrics are lost: no request and no operation may fail because of them.
      log({ level: 'warn', event: 'metrics_failed', reason: String(error).slice(0, 200) });
    }
  }
  return {
    log(line) {
      log(line);
      write(line);
    },
    observe: (call) => write({ event: 'upstream_called', ...call }),
  };
}

/** The configuration of an environment, for one isolate or Durable Object. */
export const wired = (env: Env): Required<Wired> => ({
  ...readConfig(env),
  telemetry: telemetry(env),
  admission: new Admission(),
});

/**
 * The network access of one client. If its URL is set but invalid, every call fails instead of using a
 * default address.
 */
export function fetchFor(
  config: Wired,
  variable: Extract<keyof Config, `${string}_URL` | `${string}_URLS`>,
): Fetch {
  const call = async (url: string, init?: RequestInit): Promise<Response> => {
    if (config.invalid.includes(variable)) throw upstreamFailed(variable, 'not_configured');
    return fetch(url, init);
  };
  const { telemetry: { observe } = {}, admission } = config;
  return Object.assign(call, observe && { observe }, admission && { admission });
}
