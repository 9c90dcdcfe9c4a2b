/** @module-tag deep */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { kindOf } from '../docs/command-kinds.ts';
import { blocksOf, commandsOf } from '../docs/markdown.ts';
import { writeSettings } from '../kit/settings-file.ts';
import { useFolder } from '../kit/use-folder.ts';
import { useWorld } from '../world/use-world.ts';
import { mintEnds, until } from './swap-caller.ts';

const run = promisify(execFile);
type Json = Record<string, unknown>;

const folder = useFolder('sluice-docs-');
const world = useWorld({ cron: false, blockMs: 0, slotMs: 20, settleDelayMs: 200 }, async (world) => {
  await world.control.cron('* * * * *');
  await mintEnds(world);
  writeSettings(folder, 'live.vars', world.bindings);
});

interface Said {
  readonly command: string;
  readonly code: number;
  readonly stdout: string;
}

/** Runs a page's commands in its order, in one shell, against this world. `ID` is the last returned id. */
async function runPage(commands: readonly string[]): Promise<Said[]> {
  const here = (command: string): string =>
    command
      .replaceAll('https://sluice.example', world.url)
      .replaceAll('http://127.0.0.1:8787', world.url)
      .replaceAll('.live.vars', join(folder, 'live.vars'))
      .replaceAll(/^npm run/g, `npm --prefix ${process.cwd()} run`);
  const script = commands.flatMap((command, at) => [
    `{ ${here(command)}\n} > out.${at} 2> err.${at}; echo $? > code.${at}`,
    `NEW=$(sed -n 's/.*"id":"\\([^"]*\\)".*/\\1/p' out.${at}); ID=\${NEW:-$ID}`,
  ]);
  await run('bash', ['-c', script.join('\n')], { cwd: folder, env: { ...process.env, API: world.url } });
  const file = (name: string) => readFileSync(join(folder, name), 'utf8');
  return commands.map((command, at) => ({
    command,
    code: Number(file(`code.${at}`)),
    stdout: file(`out.${at}`),
  }));
}

const toRun = (file: string): string[] =>
  blocksOf(file)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => commandsOf(text))
    .filter((command) => kindOf(command) === 'run');
const json = (text = ''): Json => JSON.parse(text) as Json;
const answerTo = (said: readonly Said[], part: string): Said | undefined =>
  said.find(({ command }) => command.includes(part));

it('the steps of SKILL.md, run in a shell, deliver the BTC to the reserve', async () => {
  const said = await runPage(toRun('SKILL.md'));
  expect(said.filter(({ code }) => code !== 0)).toEqual([]);
  expect(json(answerTo(said, '/swap/min')?.stdout)).toMatchObject({ available: true });
  expect(json(answerTo(said, '/swap/estimate')?.stdout)).toMatchObject({ amountSol: 0.5, creatable: true });
  const { id } = json(answerTo(said, 'Idempotency-Key')?.stdout);
  expect(json(answerTo(said, '/swap/status')?.stdout)).toMatchObject({ id });
  const end = await until('the swap is over', async () => {
    await world.control.mine(1);
    const status = (await (await world.fetch(`/api/swap/status/${id}`)).json()) as Json;
    return status.status === 'waiting' ? undefined : status;
  });
  expect(end).toMatchObject({ status: 'finished', detail: 'done' });
});

const shown = blocksOf('README.md')
  .filter(({ language }) => language === 'console')
  .flatMap(({ text }) => text.split(/^\$ /m).slice(1))
  .map((part) => {
    const [command = '', ...output] = part.trimEnd().split('\n');
    return { command, output: output.join('\n') };
  });

it("the README's responses have the members that the service returns", async () => {
  const curls = shown.filter(({ command }) => command.startsWith('curl'));
  expect(curls.length).toBeGreaterThan(2);
  const known = /"id":"(\w{60,})"/.exec(curls.map(({ output }) => output).join())?.[1] ?? '';
  const said = await runPage(curls.map(({ command }) => command.replace(known, '$ID')));
  for (const [at, { output }] of curls.entries()) {
    const answer = json(said[at]?.stdout);
    expect(answer).not.toHaveProperty('error_code');
    const names = [...output.matchAll(/"(\w+)":/g)].flatMap(([, name]) => name ?? []);
    for (const name of names) expect(said[at]?.stdout, name).toContain(`"${name}":`);
  }
});

it('the commands of docs/run/deploy.md that need no account work as described', async () => {
  const commands = toRun('docs/run/deploy.md');
  expect(commands.length).toBeGreaterThan(12);
  const said = await runPage(commands);
  const doctors = said.filter(({ command }) => command.startsWith('npm run doctor'));
  for (const { stdout } of doctors)
    expect([...stdout.matchAll(/PROBLEM ([\w-]+)/g)].map(([, name]) => name)).toEqual(
      stdout.includes('base-url-insecure') ? ['base-url-insecure'] : [],
    );
  expect(said.filter(({ command, code }) => code !== 0 && !command.startsWith('npm run doctor'))).toEqual([]);
  expect(json(answerTo(said, '/api/ready')?.stdout)).toMatchObject({ ok: true });
  expect(json(answerTo(said, '/swap/estimate')?.stdout)).toMatchObject({ creatable: true });
  expect(answerTo(said, 'ops -- state')?.stdout).toContain(world.reserve.solana);
  expect(readFileSync(join(folder, 'proof.txt'), 'utf8')).toContain(world.reserve.bitcoin);
});

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly body: string | undefined;
  readonly codes: readonly string[];
}

/** The information in the text alone: links, example bodies and codes. */
const entriesOf = (text: string): Entry[] =>
  text
    .split(/^- (?=\[)/m)
    .slice(1)
    .flatMap((part) => {
      const [, method = '', path = '', url = ''] = /^\[(\w+) (\S+)\]\((\S+)\)/.exec(part) ?? [];
      return method === ''
        ? []
        : [
            {
              method,
              path,
              url,
              body: /example body `(.+)`/.exec(part)?.[1],
              codes: (/errors ([A-Z0-9_, ]+)/.exec(part)?.[1] ?? '').split(', '),
            },
          ];
    });

it('/llms.txt contains enough to call every route', async () => {
  const text = await (await world.fetch('/llms.txt')).text();
  const entries = entriesOf(text);
  const document = (await (await world.fetch('/api/openapi.json')).json()) as {
    paths: Record<string, Json>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(entries.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort());

  const answers = await Promise.all(
    entries.map(async (entry) => {
      expect(entry.url).not.toMatch(/[{}]/);
      const response = await fetch(entry.url, {
        method: entry.method,
        redirect: 'manual',
        headers: entry.body === undefined ? {} : { 'content-type': 'application/json' },
        ...(entry.body === undefined ? {} : { body: entry.body }),
      });
      const said = await response.text();
      const code = said.startsWith('{') ? json(said).error_code : undefined;
      return { ...entry, status: response.status, code };
    }),
  );
  // Ids in the examples are from another day, so their routes return an error whose code the text lists.
  const undeclared = answers.filter(
    ({ path, status, code, codes }) =>
      // For an unknown pool the response is the pool API's own.
      status >= 400 && !codes.includes(String(code)) && !path.startsWith('/api/dex/pool/'),
  );
  expect(undeclared.map(({ path, status, code }) => [path, status, code])).toEqual([]);
  const without = answers.filter(({ method, path }) => method === 'GET' && !path.includes('{'));
  expect(without.filter(({ status }) => status >= 400).map(({ path }) => path)).toEqual([]);
  for (const { method, body } of entries) if (method === 'POST') expect(body).toBeDefined();
});
