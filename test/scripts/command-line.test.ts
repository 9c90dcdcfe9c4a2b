import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

describe.each([
  ['bench', ['--only', 'nothing']],
  ['load', ['--seconds', 'abc']],
  ['load', ['--seconds', '0']],
  ['mutate', ['--area', 'nothing']],
  ['mutate', ['--every', '3', '--first', '3']],
  ['attack-screen', ['abc']],
  ['execute-accepted', ['0']],
  ['execute-accepted', ['1', '2', '3']],
  ['fuzz-decoder', ['-5']],
  ['write-docs', ['now']],
  ['record-deposits', ['--force']],
  ['doctor', ['--service', 'sluice']],
  ['doctor', ['--settings', 'no-such-file']],
  ['verify', ['sluice']],
  ['verify', ['https://sluice.example', '--rpc', 'node']],
  ['backup', []],
  ['backup', ['new.sql', '--without', 'no_such_table']],
  ['ops', ['send', '5', 'SOL']],
] as const)('%s %j', (script, args) => {
  it('is refused with the usage and exit code 2', async () => {
    const refused = run(process.execPath, ['--no-warnings', `scripts/${script}.ts`, ...args]);
    await expect(refused).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/npm run |node scripts/),
    });
  });
});
