/**
 * Resources and prompts: the API document, the skill, the newest proof, and two ways to start.
 * @module
 */

import type { McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { type Api, ToolFailure } from './api-client.ts';
import { SKILL } from './skill-text.ts';

type Document = {
  readonly name: string;
  readonly uri: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** How long a client may cache the document, in milliseconds. */
  readonly ttlMs: number;
  read(api: Api, signal: AbortSignal): Promise<string> | string;
};

const MINUTES_MS = 60_000;
const json = ({ value }: { readonly value: unknown }): string => JSON.stringify(value);

export const DOCUMENTS: readonly Document[] = [
  {
    name: 'openapi',
    uri: 'sluice://openapi.json',
    title: 'API document',
    description: 'OpenAPI 3.0.3: every route of the HTTP API with its schemas and error codes',
    mimeType: 'application/json',
    ttlMs: 5 * MINUTES_MS,
    read: async (api, signal) => json(await api.call('getOpenApiDocument', {}, { signal })),
  },
  {
    name: 'routes',
    uri: 'sluice://llms.txt',
    title: 'Every route on one page',
    description: 'The HTTP API as one page of text, shorter than the API document',
    mimeType: 'text/markdown',
    ttlMs: 5 * MINUTES_MS,
    read: async (api, signal) => (await api.call('getLlmsText', {}, { signal })).value,
  },
  {
    name: 'skill',
    uri: 'sluice://skill/swap.md',
    title: 'How to swap',
    description: 'The swap flow step by step, what each state means, and what to do about each error code',
    mimeType: 'text/markdown',
    ttlMs: 60 * MINUTES_MS,
    read: () => SKILL,
  },
  {
    name: 'proof',
    uri: 'sluice://proof/newest.json',
    title: 'Newest proof of the reserve',
    description: 'The newest signed proof as published; the tool verify_reserve_proof checks it',
    mimeType: 'application/json',
    ttlMs: MINUTES_MS,
    read: async (api, signal) => json(await api.call('getProof', {}, { signal })),
  },
];

export function registerDocuments(server: McpServer, api: Api): void {
  for (const { name, uri, title, description, mimeType, ttlMs, read } of DOCUMENTS)
    server.registerResource(
      name,
      uri,
      { title, description, mimeType, cacheHint: { ttlMs, cacheScope: 'public' } },
      async (_uri, { mcpReq }) => {
        const text = await readable(() => read(api, mcpReq.signal));
        return { contents: [{ uri, mimeType, text }] };
      },
    );
}

/** A resource has no error result, so the protocol error describes the failure and the next step. */
async function readable(read: () => Promise<string> | string): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const { error_code: code, error: reason, next_step: step } = error.failure;
    throw new Error(`${code}: ${reason} ${step}`);
  }
}

const userMessage = (text: string) => ({
  messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
});

export function registerPrompts(server: McpServer): void {
  server.registerPrompt(
    'swap_reserve_sol',
    {
      title: 'Swap SOL of the reserve into BTC',
      description: 'Bounds, price, dry run, confirmation by the user, swap, and its state until it is over',
      argsSchema: z.object({ amountSol: z.string().optional().describe('SOL to swap, such as 0.5') }),
    },
    ({ amountSol }) =>
      userMessage(`Swap ${amountSol ? `${amountSol} SOL` : 'an amount of SOL that I choose'} of the Sluice reserve into BTC.

1. Call swap_min. If available is false, tell me reason and nextAvailableAt, and stop.
2. Call swap_estimate with the amount. Show me estimatedBtcSats and minimumSatoshis.
3. Call swap_create with dry_run true. Show me its terms and ask whether to go on. Nothing has moved yet.
4. Only after I agree: call swap_create with the same amount, without dry_run, and with the idempotencyKey that the dry run returned.
   If that call fails or its response is lost, repeat it with the same key. Never make a second swap for the same request.
5. Call swap_status with the id. It waits; call it again while status is waiting. Then tell me detail, btcSats and txId.`),
  );
  server.registerPrompt(
    'check_reserve',
    {
      title: 'Check the reserve',
      description: 'Balances, verified proof and backing, in plain words with the age of each figure',
    },
    () =>
      userMessage(`Check the Sluice reserve for me.

1. Call verify_reserve_proof. Tell me each check that failed and what it found; if all passed, say so, with age_seconds.
2. Call get_reserves and service_status. Compare the BTC with backing.supplyAtoms.
3. Say plainly what is not known: null is not zero, and stale figures are older than usual.`),
  );
}
