import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { documentOf } from '../../scripts/documents/write-documents.ts';
import { useFolder } from '../kit/use-folder.ts';

const run = promisify(execFile);

/** Expected warnings: a redirect has no 2XX, and a read without parameters has no 4XX. */
const MEANT = ['operation-2xx-response', 'operation-4xx-response'];

type Report = { problems: { ruleId: string; severity: string; message: string }[] };

const folder = useFolder('sluice-openapi-');

async function lint(document: unknown): Promise<Report['problems']> {
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const cli = join(import.meta.dirname, '../../node_modules/@redocly/cli/bin/cli.js');
  const args = [cli, 'lint', file, '--format', 'json', '--max-problems', '1000'];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stdout } = await run(process.execPath, args, {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
    env,
  }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? '' }));
  return (JSON.parse(stdout.slice(stdout.indexOf('{'))) as Report).problems;
}

it('redocly finds no error and only the two expected warnings in the OpenAPI document', async () => {
  const problems = await lint(documentOf('https://sluice.example'));
  expect(problems.filter(({ ruleId }) => !MEANT.includes(ruleId))).toEqual([]);
});
