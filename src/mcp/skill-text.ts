/** SKILL.md. Written by `npm run docs`. */
export const SKILL = `---
name: sluice-swap
description: Swap SOL of a Sluice reserve into BTC and explain the result. Use it when asked to swap, to price a swap, or to explain why a swap is waiting, failed or refunded.
---

# Swap reserve SOL into BTC

<!-- \`npm run docs\` writes the tables of actions and codes; tests compare all tables and run every step. -->

The service swaps SOL of its own reserve; the BTC goes to the reserve's own address. No other destination is possible, and you need no
key or account. The MCP server at \`$API/mcp\` has the same four calls as the tools \`swap_min\`, \`swap_estimate\`, \`swap_create\` and
\`swap_status\`. \`$API\` is the origin of the service.

## 1. Check what is possible

\`\`\`sh
curl -sS "$API/api/swap/min"
\`\`\`

\`available: false\` means that no swap can start now: tell the user \`reason\` and \`nextAvailableAt\`, and stop. The amount must be
between \`minAmountSol\` and \`maxAmountSol\`.

## 2. Quote

\`\`\`sh
curl -sS "$API/api/swap/estimate?amountSol=0.5"
\`\`\`

\`estimatedBtcSats\` is the expected output, \`minimumSatoshis\` the output that the bridge guarantees. Show both. Nothing is reserved.

## 3. Dry run

\`\`\`sh
curl -sS -X POST "$API/api/swap/create" -H 'content-type: application/json' -d '{"amountSol":0.5,"dry_run":true}'
\`\`\`

A dry run performs every step except the reservation and the signature. Ask the user before you continue: the next call spends.

## 4. Create, with a key

Create one key, keep it until the outcome is known, and use it for every repeat of this swap.

\`\`\`sh
KEY=$(od -An -N16 -tx1 /dev/urandom | tr -d ' ')
curl -sS -X POST "$API/api/swap/create" -H 'content-type: application/json' -H "Idempotency-Key: $KEY" -d '{"amountSol":0.5}'
\`\`\`

Keep \`id\`. If the response is lost, send the same call with the same key. It moves nothing twice and returns \`Idempotency-Replayed: true\`.
Never create a new key because a response was lost.

## 5. Poll

\`\`\`sh
curl -sS "$API/api/swap/status/$ID"
\`\`\`

Repeat after \`nextPollSeconds\` while \`status\` is \`waiting\`. Only \`finished\` means that the BTC has arrived. Do not create another
swap because one is slow.

## 6. Explain it

| status | detail | tell the user |
|---|---|---|
| \`waiting\` | \`signed\` | Signed and stored; about to be sent. Nothing has left yet. |
| \`waiting\` | \`sent\` | Sent to Solana, and resent until the outcome is final. |
| \`waiting\` | \`landed\` | In a Solana block; the SOL has left, or will leave within seconds. |
| \`waiting\` | \`settling\` | Final on Solana; the bridge is paying the BTC. This takes minutes, sometimes hours. |
| \`waiting\` | \`refunding\` | The bridge reports a refund of the SOL; the reserve does not show it yet. |
| \`waiting\` | \`held\` | Six hours without the BTC: the operator is checking it. No call is needed. |
| \`finished\` | \`done\` | The reserve's address has the BTC: \`btcSats\`, paid by \`txId\`. |
| \`failed\` | \`refunded\` | The bridge returned the SOL to the reserve, less its fee. No BTC will come. |
| \`failed\` | \`partial\` | Less BTC arrived than the bridge had guaranteed: \`btcSats\`, paid by \`txId\`. |
| \`failed\` | \`bridge_failed\` | The bridge gave up and has returned nothing yet. The operator contacts it. |
| \`failed\` | \`written_off\` | The bridge paid nothing, and the operator no longer expects it. |
| \`failed\` | \`late\` | The swap had failed, but the BTC arrived afterwards: \`btcSats\`, paid by \`txId\`. |
| \`failed\` | \`expired\` | No block contains the transaction. Nothing was spent; create a new swap if still wanted. |
| \`failed\` | \`rejected\` | The chain refused the transaction. Only its network fee was spent. |

If \`detail\` has any other value, explain \`status\`.

A refund is neither a loss of the amount nor a finished swap. Explain that the SOL is back in the reserve, less the bridge's fee. No BTC
will come for this id, and a new swap needs a new key.

## When a call fails

The body has \`error_code\`, \`action\`, \`retryable\` and sometimes \`retry_after_s\`. Follow \`action\`. The texts below use
the terms of the MCP tools: over HTTP, \`idempotencyKey\` is the header \`Idempotency-Key\`, and a tool is the call shown above.

| action | next step |
|---|---|
| \`check_id\` | Check the id: use the exact value that the creating call returned. |
| \`contact_operator\` | The service's operator must act. Show the error to the user; do not retry. |
| \`fix_request\` | Correct the argument named in the error and call the tool again. |
| \`report_request_id\` | Tell the user the request_id, so that the operator can find the cause. Do not retry at once. |
| \`retry_later\` | Nothing was lost. Wait for retry_after_s seconds (30 if it is absent), then make the same call. |
| \`retry_with_new_key\` | This call moved nothing. Call again without idempotencyKey, so that a new key is made. |
| \`retry_with_same_key\` | The first call with this idempotencyKey is still running. Wait for retry_after_s seconds, then make the same call with it. |
| \`top_up_wallet\` | The reserve has too little SOL. Use a smaller amount, or tell the operator to add SOL. |

| code | meaning | action |
|---|---|---|
| \`AMOUNT_TOO_LARGE\` | The amount is above the cap of one swap (details.maxAmountLamports), or above the bridge's maximum. | \`fix_request\` |
| \`AMOUNT_TOO_SMALL\` | The amount is below minAmountSol of GET /api/swap/min, or below the bridge's minimum. | \`fix_request\` |
| \`BODY_TOO_LARGE\` | The body is larger than 16 KiB. | \`fix_request\` |
| \`CUSTODIAN_UNAVAILABLE\` | The custodian does not respond, or has too many reads. Repeat with the same Idempotency-Key: money moves at most once. | \`retry_later\` |
| \`DATABASE_UNAVAILABLE\` | The database is not available. Nothing was lost. | \`retry_later\` |
| \`IDEMPOTENCY_IN_PROGRESS\` | The first request with this Idempotency-Key is still running. Repeat the request with the same key. | \`retry_with_same_key\` |
| \`IDEMPOTENCY_KEY_REUSED\` | This Idempotency-Key was already used with a different request. | \`retry_with_new_key\` |
| \`INSUFFICIENT_BALANCE\` | The reserve's SOL balance, less floor, reservations and network fee, is below the amount. | \`top_up_wallet\` |
| \`INTERNAL\` | The service failed unexpectedly. | \`report_request_id\` |
| \`INVALID_IDEMPOTENCY_KEY\` | Idempotency-Key must be 16 to 128 visible ASCII characters. | \`fix_request\` |
| \`INVALID_INPUT\` | A parameter or body member is missing, malformed or out of range; details.issues names it. | \`fix_request\` |
| \`INVALID_JSON\` | The body is not valid JSON. | \`fix_request\` |
| \`NOT_CONFIGURED\` | This area is not configured; details.variables lists the missing variables. | \`contact_operator\` |
| \`NOT_FOUND\` | There is no record with this id. | \`check_id\` |
| \`PRICE_UNAVAILABLE\` | No two independent price sources agree, so no quote can be checked. Nothing was signed. | \`retry_with_new_key\` |
| \`QUOTE_BUDGET_SPENT\` | The routing provider's quotes for all clients are used up. | \`retry_later\` |
| \`QUOTE_REFUSED\` | The routing provider's quote did not pass our checks; details.reason names the check, or is no_route if there is no liquidity. Nothing was signed. | \`retry_with_new_key\` |
| \`RATE_LIMITED\` | This address sent too many requests. | \`retry_later\` |
| \`SWAPS_PAUSED\` | The operator or a safety check has paused swaps; details.reason says which. | \`retry_later\` |
| \`SWAP_LIMIT_REACHED\` | The amount would exceed a swap limit: details.limit is one of hour, day, unsettled, cost_day. | \`retry_later\` |
| \`UNSUPPORTED_CONTENT_TYPE\` | The body must be sent as application/json. | \`fix_request\` |
| \`UPSTREAM_FAILED\` | An upstream service failed or returned invalid data; details.upstream may name it. | \`retry_later\` |
`;
