import { execFile } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { useFolder } from '../kit/use-folder.ts';

const run = promisify(execFile);
const FOLDER = 'docs/examples';
const folder = useFolder('sluice-examples-');

const hasPython = await run('python3', ['--version']).then(
  () => true,
  () => false,
);

it('the TypeScript examples pass the strictest type checks after being copied', async () => {
  cpSync(FOLDER, folder, { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noImplicitReturns: true,
        noUnusedLocals: true,
        noUnusedParameters: true,
        module: 'nodenext',
        target: 'es2024',
        types: ['node'],
        skipLibCheck: true,
        noEmit: true,
      },
      include: ['*.ts'],
    }),
  );
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await run(resolve('node_modules/.bin/tsc'), ['-p', folder]).catch(({ stdout }: { stdout: string }) => {
    throw new Error(stdout);
  });
}, 60_000);

it.runIf(hasPython)('the Python example has valid syntax', async () => {
  const parse = 'import ast, sys; ast.parse(open(sys.argv[1]).read())';
  await expect(run('python3', ['-c', parse, `${FOLDER}/pay_invoice.py`])).resolves.toBeDefined();
});
