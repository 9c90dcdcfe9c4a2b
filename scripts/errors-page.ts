/** docs/errors.md as text, generated from the table of codes and the API document. */
import { ERROR_ACTIONS, type ErrorTable } from '../src/core/errors.ts';
import { type ApiDocument, codesOf, operationsOf } from './documents/api-document.ts';

const HEAD = `# Errors

<!-- Written by \`npm run docs\` from the tables in the source; a test compares them. -->

Every failure, 404, 405, 413 and 500 included, is JSON of one shape:

\`\`\`json
{
  "error_code": "SWAP_LIMIT_REACHED",
  "error": "The hour limit of 4 SOL would be exceeded: 4 SOL are already used.",
  "action": "retry_later",
  "request_id": "6f0c1c0e-6d0a-4a35-9a3e-0d0e8f6f5a11",
  "retryable": true,
  "retry_after_s": 1800,
  "details": { "limit": "hour" }
}
\`\`\`

- Branch on \`error_code\`. Codes are only ever added; a code keeps its meaning.
- \`retryable\` means that the same request can succeed later without a change. \`retry_after_s\` is the wait in
  seconds, like the header \`Retry-After\`. Repeat a request that spends with the same \`Idempotency-Key\`.
- \`details\` contains the cause and is described under each code. \`error\` is for display and may change.
- \`request_id\` is also the header \`X-Request-Id\` and appears in the operator's log.

## What to do

`;

const cell = (text: string): string => text.replaceAll('|', '\\|');

export function errorsPage(errors: ErrorTable, document: ApiDocument): string {
  const statuses = new Map<string, Set<string>>();
  for (const { operation } of operationsOf(document))
    for (const [status, response] of Object.entries(operation.responses))
      for (const code of codesOf(response?.content?.['application/json']?.schema))
        statuses.set(code, (statuses.get(code) ?? new Set()).add(status));
  const actions = [...new Set(Object.values(errors).map(({ action }) => action))].sort();
  const rows = Object.entries(errors)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { status, action, retryable, meaning }]) => {
      const sent = [...(statuses.get(code) ?? [String(status)])].sort().join(', ');
      return `| \`${code}\` | ${sent} | \`${action}\` | ${retryable ? 'yes' : 'no'} | ${cell(meaning)} |`;
    });
  return `${HEAD}| action | next step |
|---|---|
${actions.map((action) => `| \`${action}\` | ${cell(ERROR_ACTIONS[action])} |`).join('\n')}

## Codes

The API document lists the codes of each operation.

| code | status | action | retryable | meaning |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
