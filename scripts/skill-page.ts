/** SKILL.md as text: the swap flow for an agent that has a shell, its paths and codes taken from the API document. */
import type { ErrorTable } from '../src/core/errors.ts';
import { nextStep } from '../src/mcp/api-client.ts';
import { type ApiDocument, codesOf, operationsOf } from './documents/api-document.ts';

/** Values of `detail` in GET /api/swap/status/{id}, and what to tell the user. */
export const SWAP_DETAILS: Readonly<Record<string, readonly [status: string, meaning: string]>> = {
  signed: ['waiting', 'Signed and stored; about to be sent. Nothing has left yet.'],
  sent: ['waiting', 'Sent to Solana, and resent until the outcome is final.'],
  landed: ['waiting', 'In a Solana block; the SOL has left, or will leave within seconds.'],
  settling: [
    'waiting',
    'Final on Solana; the bridge is paying the BTC. This takes minutes, sometimes hours.',
  ],
  refunding: ['waiting', 'The bridge reports a refund of the SOL; the reserve does not show it yet.'],
  held: ['waiting', 'Six hours without the BTC: the operator is checking it. No call is needed.'],
  done: ['finished', "The reserve's address has the BTC: `btcSats`, paid by `txId`."],
  refunded: ['failed', 'The bridge returned the SOL to the reserve, less its fee. No BTC will come.'],
  partial: ['failed', 'Less BTC arrived than the bridge had guaranteed: `btcSats`, paid by `txId`.'],
  bridge_failed: ['failed', 'The bridge gave up and has returned nothing yet. The operator contacts it.'],
  written_off: ['failed', 'The bridge paid nothing, and the operator no longer expects it.'],
  late: ['failed', 'The swap had failed, but the BTC arrived afterwards: `btcSats`, paid by `txId`.'],
  expired: [
    'failed',
    'No block contains the transaction. Nothing was spent; create a new swap if still wanted.',
  ],
  rejected: ['failed', 'The chain refused the transaction. Only its network fee was spent.'],
};

const STEPS = {
  bounds: 'getSwapMinimum',
  price: 'getSwapEstimate',
  create: 'createSwap',
  status: 'getSwapStatus',
} as const;

/** @throws Error when the service no longer has the operation of a step */
export function skillPage(errors: ErrorTable, document: ApiDocument): string {
  const operations = operationsOf(document);
  const find = (id: string) => {
    const found = operations.find(({ operation }) => operation.operationId === id);
    if (!found) throw new Error(`no operation ${id}`);
    return found;
  };
  const path = (step: keyof typeof STEPS): string => find(STEPS[step]).path;
  const codes = Object.values(STEPS).flatMap((id) =>
    Object.values(find(id).operation.responses).flatMap((response) =>
      codesOf(response?.content?.['application/json']?.schema),
    ),
  );
  const codeRows = [...new Set(codes)].sort().map((code) => {
    const entry = errors[code];
    if (!entry) throw new Error(`no entry for ${code}`);
    return `| \`${code}\` | ${entry.meaning} | \`${entry.action}\` |`;
  });
  const actions = [...new Set(codes.flatMap((code) => (errors[code] ? [errors[code].action] : [])))].sort();
  const details = Object.entries(SWAP_DETAILS).map(
    ([detail, [status, meaning]]) => `| \`${status}\` | \`${detail}\` | ${meaning} |`,
  );

  return `---
name: sluice-swap
description: Swap SOL of a Sluice reserve into BTC and explain the result. Use it when asked to swap, to price a swap, or to explain why a swap is waiting, failed or refunded.
---

# Swap reserve SOL into BTC

<!-- Written by \`npm run docs\` from the routes and the error table; a test compares them and runs every step. -->

The service swaps SOL of its own reserve; the BTC goes to the reserve's own address. No other destination is possible, and you need no
key or account. The MCP server at \`$API/mcp\` has the same four calls as the tools \`swap_min\`, \`swap_estimate\`, \`swap_create\` and
\`swap_status\`. \`$API\` is the origin of the service.

## 1. Check what is possible

\`\`\`sh
curl -sS "$API${path('bounds')}"
\`\`\`

\`available: false\` means that no swap can start now: tell the user \`reason\` and \`nextAvailableAt\`, and stop. The amount must be
between \`minAmountSol\` and \`maxAmountSol\`.

## 2. Quote

\`\`\`sh
curl -sS "$API${path('price')}?amountSol=0.5"
\`\`\`

\`estimatedBtcSats\` is the expected output, \`minimumSatoshis\` the output that the bridge guarantees. Show both. Nothing is reserved.

## 3. Dry run

\`\`\`sh
curl -sS -X POST "$API${path('create')}" -H 'content-type: application/json' -d '{"amountSol":0.5,"dry_run":true}'
\`\`\`

A dry run performs every step except the reservation and the signature. Ask the user before you continue: the next call spends.

## 4. Create, with a key

Create one key, keep it until the outcome is known, and use it for every repeat of this swap.

\`\`\`sh
KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' ')
curl -sS -X POST "$API${path('create')}" -H 'content-type: application/json' -H "Idempotency-Key: $KEY" -d '{"amountSol":0.5}'
\`\`\`

Keep \`id\`. If the response is lost, send the same call with the same key. It moves nothing twice and returns \`Idempotency-Replayed: true\`.
Never create a new key because a response was lost.

## 5. Poll

\`\`\`sh
curl -sS "$API${path('status').replace('{id}', '$ID')}"
\`\`\`

Repeat after \`nextPollSeconds\` while \`status\` is \`waiting\`. Only \`finished\` means that the BTC has arrived. Do not create another
swap because one is slow.

## 6. Explain it

| status | detail | tell the user |
|---|---|---|
${details.join('\n')}

If \`detail\` has any other value, explain \`status\`.

A refund is neither a loss of the amount nor a finished swap. Explain that the SOL is back in the reserve, less the bridge's fee. No BTC
will come for this id, and a new swap needs a new key.

## When a call fails

The body has \`error_code\`, \`action\`, \`retryable\` and sometimes \`retry_after_s\`. Follow \`action\`. The texts below use
the terms of the MCP tools: over HTTP, \`idempotencyKey\` is the header \`Idempotency-Key\`, and a tool is the call shown above.

| action | next step |
|---|---|
${actions.map((action) => `| \`${action}\` | ${nextStep(action)} |`).join('\n')}

| code | meaning | action |
|---|---|---|
${codeRows.join('\n')}
`;
}

/** The same text as a module, for the MCP server: neither a Worker nor one bundled file can read SKILL.md. */
export const skillModule = (page: string): string =>
  `/** SKILL.md. Written by \`npm run docs\`. */\nexport const SKILL = \`${page.replace(/[\\`]|\$\{/g, '\\$&')}\`;\n`;
