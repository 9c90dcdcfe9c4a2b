/**
 * The log, and the network access of the upstreams' clients.
 * @module
 */
import { type Config, readConfig } from '../config.ts';
import { nodeCalls, upstreamCalls } from '../core/call-limits.ts';
import { upstreamFailed } from '../core/errors.ts';
import { stringifyJson } from '../core/json.ts';
import { Admission } from '../providers/admission.ts';
import type { Fetch } from '../providers/http.ts';
import { isCustodyNode } from '../providers/solana-rpc.ts';

export type Line = Readonly<Record<string, unknown>>;

/** A configuration, with the limit on concurrent calls that its clients share. */
export type Wired = Config & { readonly admission?: Admission };

/**
 * Requests that succeed, or fail by the caller's mistake, get one log line in this many. The platform charges for each
 * line.
 */
const REQUESTS_PER_LINE = 100;

/** Writes every failure, alarm and event, and a share of the other requests. Lines never contain a client's address. */
export function log(line: Line): void {
  const isUsual = line.route !== undefined && Number(line.status) < 500;
  if (!isUsual) console.log(stringifyJson(line));
  else if (Math.random() * REQUESTS_PER_LINE < 1)
    console.log(stringifyJson({ ...line, requests: REQUESTS_PER_LINE }));
}

/** The configuration of an environment, for one isolate. Its callers share a fixed part of each node's rate. */
export function wired(env: Env): Required<Wired> {
  const config = readConfig(env);
  return { ...config, admission: new Admission(upstreamCalls(config.SOLANA_RPC_RATE)) };
}

/** The configuration for the custodian. Callers share a part of the rate of each of its nodes. */
export function wiredCustodian(env: Env): Required<Wired> {
  const config = readConfig(env);
  const terms = nodeCalls(config.SOLANA_RPC_RATE);
  return { ...config, admission: new Admission((name) => (isCustodyNode(name) ? terms : undefined)) };
}

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
  const { admission } = config;
  return Object.assign(call, admission && { admission });
}
