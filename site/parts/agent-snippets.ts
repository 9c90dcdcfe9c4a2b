/**
 * Calls with curl for developers to copy. The origin is the page's own.
 * @module
 */
export const UNKNOWN_ORIGIN = 'https://sluice.example';

export const curlLines = (origin: string): readonly { readonly name: string; readonly text: string }[] => [
  { name: 'Read the reserve', text: `curl ${origin}/api/reserves` },
  { name: 'Read the limits of a swap', text: `curl ${origin}/api/swap/min` },
  {
    name: 'Test a swap without moving money',
    text: `curl '${origin}/api/swap/estimate?amountSol=0.5'`,
  },
  {
    name: 'Start a swap; repeat the call with the same key',
    text: `KEY=$(uuidgen)\ncurl -X POST ${origin}/api/swap/create -H 'content-type: application/json' \\\n  -H "idempotency-key: $KEY" -d '{"amountSol":0.5}'`,
  },
];
