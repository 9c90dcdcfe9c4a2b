/** SKILL.md as text: the swap flow for an agent that has a shell, its paths and codes taken from the API document. */
import type { ErrorTable } from '../src/core/errors.ts';
import { nextStep } from '../src/mcp/failure.ts';
import { type ApiDocument, codesOf, operationsOf } from './documents/api-document.ts';

/** Words of `detail` in GET /api/swap/status/{id}, and what to tell the user. */
export const SWAP_DETAILS: Readonly<Record<string, readonly [status: string, meaning: string]>> = {
  signed: ['waiting', 'Signed and stored; about to be sent. Nothing has left yet.'],
  sent: ['waiting', 'Sent to Solana, and sent again until the chain has decided.'],
  landed: ['waiting', 'In a Solana block; the SOL has left, or will within seconds.'],
  settling: ['waiting', 'Final on Solana; the bridge is paying the BTC. Minutes, sometimes hours.'],
  refunding: ['waiting', 'The bridge says that it gave the SOL back; the reserve does not show it yet.'],
  held: ['waiting', 'Six hours without the BTC: the operator looks at it. Nobody needs to act on the API.'],
  done: ['finished', 'The BTC is at the address of the reserve, in `btcSats`, paid by `txId`.'],
  refunded: ['failed', 'The bridge gave the SOL back, less its fee. The reserve has it; no BTC will come.'],
  partial: ['failed', 'Less BTC came than the bridge had guaranteed; `btcSats` and `txId` tell what did.'],
  bridge_failed: ['failed', 'The bridge gave up and returned nothing yet. The operator claims it there.'],
  late: ['failed', 'It had failed, and the BTC arrived afterwards; `btcSats` and `txId` tell what did.'],
  expired: ['failed', 'No block took the transaction. Nothing was spent; create a new swap if still wanted.'],
  rejected: ['failed', 'The chain refused the transaction. Only its network fee was spent.'],
};

const STEPS = {
  bounds: 'getSwapMinimum',
  price: 'getSwapEstimate',
  create: 'createSwap',
  status: 'getSwapStatus',
} as const;

/** @throws Error when a step is no operation of the service any more */
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
description: Swap SOL of a Sluice reserve into BTC and explain what became of it. Use it when asked to swap, to price a swap, or why a swap is waiting, failed or refunded.
---

# Swap reserve SOL into BTC

<!-- Written by \`npm run docs\` from the routes and the error table; a test compares them and runs every step. -->

The service swaps SOL that its own reserve holds; the BTC goes to the reserve's own address. No other destination is
possible, and no key or account is needed. The MCP server at \`$API/mcp\` has the same four calls as the tools \`swap_min\`,
\`swap_estimate\`, \`swap_create\` and \`swap_status\`. \`$API\` is the origin of the service.

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

\`estimatedBtcSats\` is expected, \`minimumSatoshis\` is what the bridge guarantees. Show both. Nothing is reserved.

## 3. Dry run

\`\`\`sh
curl -sS -X POST "$API${path('create')}" -H 'content-type: application/json' -d '{"amountSol":0.5,"dry_run":true}'
\`\`\`

Everything but the reservation and the signature. Ask the user before you go on: the next call spends.

## 4. Create, with a key

Make one key, keep it until the outcome is known, and use it for every repeat of this one swap.

\`\`\`sh
KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' ')
curl -sS -X POST "$API${path('create')}" -H 'content-type: application/json' -H "Idempotency-Key: $KEY" -d '{"amountSol":0.5}'
\`\`\`

Keep \`id\`. Was the answer lost? Send the same call with the same key: it moves nothing twice and says \`Idempotency-Replayed: true\`.
Never make a new key because an answer was lost.

## 5. Poll

\`\`\`sh
curl -sS "$API${path('status').replace('{id}', '$ID')}"
\`\`\`

Ask again after \`nextPollSeconds\` while \`status\` is \`waiting\`. Only \`finished\` means that the BTC has arrived. Do not create
another swap because one is slow.

## 6. Explain it

| status | detail | tell the user |
|---|---|---|
${details.join('\n')}

Go by \`status\` where \`detail\` is another word.

A refund is not a loss of the amount, and not a finished swap: say that the SOL is back in the reserve less the bridge's fee, that no BTC
will come from this id, and that a new swap needs a new key.

## When a call fails

The body has \`error_code\`, \`action\`, \`retryable\` and maybe \`retry_after_s\`. Do what \`action\` says (over HTTP, \`idempotencyKey\` is the header
\`Idempotency-Key\` and a tool is its call above):

| action | do |
|---|---|
${actions.map((action) => `| \`${action}\` | ${nextStep(action)} |`).join('\n')}

| code | means | action |
|---|---|---|
${codeRows.join('\n')}
`;
}

/** The same text as a module, for the MCP server: neither a Worker nor one bundled file can read SKILL.md. */
export const skillModule = (page: string): string =>
  `/** SKILL.md. Written by \`npm run docs\`. */\nexport const SKILL = \`${page.replace(/[\\`]|\$\{/g, '\\$&')}\`;\n`;
