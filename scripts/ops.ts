/**
 * The operator's commands from a terminal: `npm run ops -- pause | resume | operations | held | retry <id> | reconcile`.
 * Reads API_BASE_URL and OPS_SECRET from the environment; exit code 1 when the custodian says no.
 */
const [name = '', id] = process.argv.slice(2);
const { API_BASE_URL: apiOrigin = 'http://127.0.0.1:8787', OPS_SECRET: secret } = process.env;

if (!secret) {
  console.error('Set OPS_SECRET to the secret that the service was deployed with.');
  process.exit(1);
}

const response = await fetch(`${apiOrigin.replace(/\/+$/, '')}/api/ops`, {
  method: 'POST',
  headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  body: JSON.stringify(id === undefined ? { name } : { name, id }),
});
const answer = (await response.json()) as {
  ok?: boolean;
  message?: string;
  error?: string;
  rows?: unknown[];
};
console.log(answer.message ?? answer.error ?? `status ${response.status}`);
if (answer.rows) console.table(answer.rows);
process.exitCode = response.ok && answer.ok ? 0 : 1;

export {};
