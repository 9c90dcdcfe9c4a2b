import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { base58 } from '@scure/base';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Client, createClient } from '../../packages/client/src/index.ts';
import { blocksOf } from '../docs/markdown.ts';
import { startWorld, type World } from '../world/world.ts';

const run = promisify(execFile);

let world: World;
let sluice: Client;
const folder = mkdtempSync(join(tmpdir(), 'sluice-readme-'));

beforeAll(async () => {
  world = await startWorld();
  sluice = createClient({ baseUrl: world.url });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world.stop();
});

it('the program in the README runs until its swap is finished', async () => {
  const installed = join(folder, 'node_modules/sluice-client');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, 'package.json'), '{"type":"module","exports":"./index.js"}');
  await build({
    entryPoints: ['packages/client/src/index.ts'],
    outfile: join(installed, 'index.js'),
    bundle: true,
    format: 'esm',
  });
  const [program, ...more] = blocksOf('packages/client/README.md');
  expect(more).toEqual([]);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(folder, 'program.ts'),
    program?.text.replaceAll('https://sluice.example', world.url) ?? '',
  );
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts')]);
  expect(stdout).toMatch(/^\[ '\d+', true \]\nfinished\n1\n$/);
});

/** Runs docs/examples/pay-invoice.ts as a copy, with the packages that it names. */
function pay(payUrl: string, maxSol: string, secretKey: string) {
  mkdirSync(join(folder, 'node_modules/@solana'), { recursive: true });
  for (const name of ['@solana/kit', '@solana-program'])
    if (!existsSync(join(folder, 'node_modules', name)))
      symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  const program = join(folder, 'pay-invoice.ts');
  copyFileSync('docs/examples/pay-invoice.ts', program);
  writeFileSync(join(folder, 'key.json'), JSON.stringify([...base58.decode(secretKey)]));
  const args = [program, payUrl, maxSol, join(folder, 'key.json'), world.endpoints.rpc1];
  return run(process.execPath, args, { cwd: folder });
}

it('orders a token and waits until the example program has paid for it', async () => {
  const [user] = world.users;
  if (!user) throw new Error('no user');
  const order = { name: 'Client Cat', symbol: 'CCAT', decimals: 6, supply: '5000000' };
  const invoice = await sluice.createInvoice({ ...order, creator_address: user.address });
  if (!invoice.ok) throw new Error(JSON.stringify(invoice.failure));
  const { solana_pay_url: payUrl, amount } = invoice.value;
  await expect(pay(payUrl, '0.001', user.secretKey)).rejects.toMatchObject({
    stderr: expect.stringMatching(/The price is \d+ lamports, above 0\.001 SOL/),
  });
  expect((await pay(payUrl, amount, user.secretKey)).stdout).toMatch(/^\w{64,88}\n$/);
  const paid = await sluice.waitForInvoice(invoice.value.invoice_id);
  if (!paid.ok) throw new Error(JSON.stringify(paid.failure));
  const listed: unknown[] = [];
  for await (const page of sluice.pages('searchTokens', { q: 'client cat', limit: 1 }))
    listed.push(...(page.ok ? page.value.tokens : [page.failure]));
  expect(listed).toMatchObject([{ id: paid.value.token_id, symbol: 'CCAT' }]);
});
