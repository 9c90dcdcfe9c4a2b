/** @module-tag deep */
import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import * as z from 'zod';
import { readSettings } from '../../scripts/doctor/read-settings.ts';
import { serve } from '../kit/serve.ts';
import { useFolder } from '../kit/use-folder.ts';

const Uploaded = z.object({
  bindings: z.array(z.looseObject({ type: z.string(), name: z.string(), text: z.string().optional() })),
  code_update_strategy: z.unknown(),
});
type Upload = z.infer<typeof Uploaded>;

/** A shell would replace both names. */
const STAGING_SECRET = `staging-$OPS_SECRET-$${'{HOME}'}-0123456789`;

const folder = useFolder('sluice-upload-');
const uploads: Upload[] = [];

/** Cloudflare's API as far as one deployment needs it: keeps the metadata of each upload. */
const api = await serve(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const metadata = /name="metadata"[\s\S]*?\r\n\r\n([\s\S]*?)\r\n--/.exec(Buffer.concat(chunks).toString());
  if (metadata?.[1]) uploads.push(Uploaded.parse(JSON.parse(metadata[1])));
  const { pathname } = new URL(request.url ?? '/', 'http://api.test');
  const isUnknown = request.method === 'GET' && /\/services\/sluice|\/secrets$/.test(pathname);
  const code = pathname.endsWith('/secrets') ? 10007 : 10090;
  const result = /\/memberships|\/accounts$/.test(pathname)
    ? []
    : { id: 'v1', enabled: true, previews_enabled: false, subdomain: 'x', deployments: [], items: [] };
  response.writeHead(isUnknown ? 404 : 200, { 'content-type': 'application/json' });
  const missing = { success: false, errors: [{ code, message: 'not found' }], messages: [], result: null };
  response.end(JSON.stringify(isUnknown ? missing : { success: true, errors: [], messages: [], result }));
});
afterAll(api.stop);

const put = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
put('package.json', '{"homepage": "x", "bugs": {"email": "x"}, "repository": {"url": "x"}}');
put('worker.js', 'export default { fetch: () => new Response() };');
put(
  'wrangler.toml',
  'name = "sluice"\nmain = "worker.js"\ncompatibility_date = "2026-10-01"\n[env.staging]\nname = "sluice-staging"\n',
);
const wrangler = `"${process.execPath}" "${resolve('node_modules/wrangler/bin/wrangler.js')}"`;
chmodSync(put('npx', `#!/bin/sh\nshift\nexec ${wrangler} "$@"\n`), 0o755);

it('a staging deployment uploads the lines of its file unchanged from a shell that exports production secrets', async () => {
  const file = put(
    '.staging.vars',
    [
      `OPS_SECRET=${STAGING_SECRET}`,
      'SOLANA_PRIVATE_KEY=\'[1, 2, "three"]\'',
      'RESERVE_SOLANA_ADDRESS=reserve',
      'RESERVE_BTC_ADDRESS=bc1',
      'PUBLIC_BASE_URL="https://staging.sluice.test"',
      'MINT_KEY_SEED="two\\nlines and \'spaces\' \\\\$HOME"',
      'NEAR_INTENTS_JWT=`a "b" \'c\'`',
    ].join('\n'),
  );
  const args = ['--env', 'staging', '--secrets-file', file];
  const output = await new Promise<string>((ended) =>
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', resolve('scripts/deploy.ts'), ...args],
      {
        cwd: folder,
        env: {
          HOME: folder,
          PATH: `${folder}${delimiter}${process.env.PATH}`,
          CI: 'true',
          WRANGLER_SEND_METRICS: 'false',
          CLOUDFLARE_API_BASE_URL: api.url,
          CLOUDFLARE_API_TOKEN: 'token',
          CLOUDFLARE_ACCOUNT_ID: '0'.repeat(32),
          OPS_SECRET: 'production-ops-secret-0123456789abcdef',
          ALARM_WEBHOOK_URL: 'https://hooks.test/production',
          ENVIRONMENT: 'production',
        },
      },
      (_error, stdout, stderr) => ended(`${stdout}${stderr}`),
    ),
  );
  expect(uploads, output).toHaveLength(1);
  const secrets = uploads[0]?.bindings.flatMap(({ type, name, text }) =>
    type === 'secret_text' ? [[name, text] as const] : [],
  );
  expect(Object.fromEntries(secrets ?? [])).toEqual(readSettings(file));
  expect(readSettings(file).OPS_SECRET).toBe(STAGING_SECRET);
  expect(uploads[0]?.code_update_strategy).toMatchObject({ mode: 'immediate' });
});
