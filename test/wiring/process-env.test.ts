import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { expect, it } from 'vitest';
import { readWorkerOptions } from '../world/worker-options.ts';

const { worker, compatibilityDate } = readWorkerOptions('wrangler.toml');
const FLAG = 'nodejs_compat_do_not_populate_process_env';

/** What `process.env` of a Worker with these flags holds of its secret. */
async function leaked(compatibilityFlags: readonly string[]): Promise<unknown> {
  const runtime = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      compatibilityDate,
      compatibilityFlags: [...compatibilityFlags],
      bindings: { SOLANA_PRIVATE_KEY: 'a secret' },
      script: `import process from 'node:process';
        export default {
          fetch: (request, env) => Response.json([env.SOLANA_PRIVATE_KEY, process.env.SOLANA_PRIVATE_KEY ?? null]),
        };`,
    }),
  );
  try {
    return await (await runtime.dispatchFetch('http://worker.test')).json();
  } finally {
    await runtime.dispose();
  }
}

it('the deployed Worker has no secret in process.env', async () => {
  const flags = worker.compatibilityFlags;
  if (!Array.isArray(flags)) throw new Error('wrangler.toml has no flags');
  expect(await leaked(flags)).toEqual(['a secret', null]);
  expect(await leaked(flags.filter((flag) => flag !== FLAG))).toEqual(['a secret', 'a secret']);
});
