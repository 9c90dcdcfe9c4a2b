/** How the shapes of the probe's responses differ from the recorded production responses. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryJson } from '../../src/core/json.ts';
import type { Exchange } from './read-only-fetch.ts';
import { shapeDifferences } from './shape.ts';

const FOLDER = join(import.meta.dirname, '../../test/fixtures/recorded');
const recorded = (path: string): unknown => JSON.parse(readFileSync(join(FOLDER, path), 'utf8'));

type Answered = {
  /** Method and path, or the JSON-RPC method. */
  readonly call: string;
  readonly status: number;
  readonly body: unknown;
};

/** The differences of a response, or undefined if no such production response was recorded. */
function differencesOf({ call, status, body }: Answered): string[] | undefined {
  if (/^POST .*\/v0\/quote$/.test(call)) {
    if (status === 400) return shapeDifferences(recorded('one-click/quote-400-invalid.json'), body);
    if (status >= 300) return undefined;
    return shapeDifferences(recorded('one-click/quote-dry-sol-zec.json'), body, ['quoteRequest.referral']);
  }
  if (/^GET .*\/v0\/status$/.test(call) && status === 200)
    return shapeDifferences(recorded('one-click/status-pending-btc-base-usdc.json'), body);
  if (/^GET .*\/v0\/tokens$/.test(call) && status === 200) return tokenDifferences(body);
  if (call === 'getTransaction') return transactionDifferences(body);
  return undefined;
}

/** Compares only the rows of BTC and SOL: no others were recorded. */
function tokenDifferences(body: unknown): string[] {
  const rows = Array.isArray(body) ? (body as Record<string, unknown>[]) : [];
  return (recorded('one-click/tokens-btc-sol.json') as Record<string, unknown>[]).flatMap((row) => {
    const same = rows.find(({ assetId }) => assetId === row.assetId);
    return same === undefined
      ? [`no row ${row.assetId}`]
      : shapeDifferences(row, same).map((difference) => `${row.assetId} ${difference}`);
  });
}

/** Only a transaction of version 1 and its refusal were recorded. The sender chooses the compute budget. */
function transactionDifferences(body: unknown): string[] | undefined {
  const answer = Object(body) as { result?: { version?: unknown }; error?: { code?: unknown } };
  if (answer.error?.code === -32015)
    return shapeDifferences(recorded('solana/error-version-1-unsupported.json'), body);
  if (answer.result?.version !== 1) return undefined;
  const budget = ['computeUnitLimit', 'heapSize', 'loadedAccountsDataSizeLimit', 'priorityFee'];
  const varies = ['meta.err', 'meta.status', 'meta.innerInstructions', 'meta.logMessages'];
  const lists = ['meta.preTokenBalances', 'meta.postTokenBalances', 'transaction.message.instructions'];
  return shapeDifferences(recorded('solana/transaction-v1-failed.json'), answer.result, [
    ...varies,
    ...lists,
    ...budget.map((name) => `transaction.message.transactionConfig.${name}`),
  ]);
}

const answeredBy = ({ request, status, text }: Exchange): Answered => {
  const rpc: unknown = Reflect.get(Object(request.body), 'method');
  const call = typeof rpc === 'string' ? rpc : `${request.method} ${pathOf(new URL(request.url).pathname)}`;
  return { call, status, body: tryJson(text) };
};

/** A path without addresses, ids and hashes, which differ between calls or may be keys. */
const pathOf = (path: string): string =>
  path
    .split('/')
    .map((part) => (/^[\w-]{20,}$/.test(part) ? ':id' : part))
    .join('/');

/**
 * One line for each difference, and one for each call whose responses match the recorded ones or were never
 * recorded.
 */
export function shapeDrift(exchanges: readonly Exchange[]): string[] {
  const byCall = Map.groupBy(exchanges.map(answeredBy), ({ call }) => call);
  return [...byCall].flatMap(([call, answers]) => {
    const compared = answers.flatMap((answer) => {
      const differences = differencesOf(answer);
      return differences === undefined ? [] : [differences];
    });
    const differences = new Set(compared.flat());
    if (differences.size > 0) return [...differences].map((difference) => `shape ${call}: ${difference}`);
    if (compared.length > 0) return [`shape ${call}: as recorded`];
    const statuses = [...new Set(answers.map(({ status }) => status))].join(', ');
    return [`shape ${call}: no recorded response to compare with (status ${statuses})`];
  });
}
