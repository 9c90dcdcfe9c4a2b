import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { DECLARATIONS } from '../src/config.ts';

const MAY_IMPORT: Record<string, string[]> = {
  core: [],
  chain: ['core'],
  providers: ['core', 'chain'],
  bridges: ['core', 'chain', 'providers'],
  custody: ['core', 'chain', 'providers', 'bridges'],
  http: ['core'],
  // The routes of every product that callers pay for share the payment's instructions and confirmation.
  features: [
    ...['core', 'chain', 'providers', 'bridges', 'http', 'custody/api.ts'],
    ...['custody/operator-api.ts', 'custody/payout-view.ts'],
    'features/payments/paid-request.ts',
  ],
  mcp: ['core', 'chain', 'providers', '../packages/client/src/index.ts'],
  // A Worker of its own. It shares the custodian's rules of agreement, and none of its sources.
  witness: [
    ...['core', 'chain', 'providers', 'config.ts', 'custody/nodes/quorum.ts', 'custody/kernel/signer.ts'],
    ...['custody/kernel/ports.ts', 'custody/reserve/reserve-views.ts', 'http/within.ts'],
  ],
  wiring: [
    ...['core', 'chain', 'providers', 'bridges', 'custody', 'features', 'http', 'app.ts', 'config.ts'],
    '../site/render.js',
  ],
};
const IMPURE =
  /\b(fetch\(|Date\.now|new Date\(\)|Math\.random|process\.|setTimeout|setInterval|crypto\.getRandomValues)/;
const SQL = /\b(SELECT |INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)/;
const MAY_HOLD_SQL = /-store\.ts$|^custody\/kernel\/(agenda|journal|mirror-queue|outbox)\.ts$/;
const VAGUE = /(^|\/)(utils?|helpers?|types|constants|index)\.ts$/;

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .sort();
const read = (file: string) => readFileSync(join(src, file), 'utf8');

/** Relative imports of a file, as paths below src. */
const imports = (file: string): string[] =>
  [...read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, spec = '']) =>
    posix.normalize(posix.join(posix.dirname(file), spec)),
  );

it.each(files.filter((file) => file.includes('/')))('%s imports only what its layer may import', (file) => {
  const [layer = '', feature] = file.split('/');
  for (const target of imports(file)) {
    const [targetLayer = '', targetFeature] = target.split('/');
    if (targetLayer === layer && (layer !== 'features' || targetFeature === feature)) continue;
    const allowed = (MAY_IMPORT[layer] ?? []).some((entry) => entry === targetLayer || entry === target);
    expect(allowed, `${file} imports ${target}`).toBe(true);
  }
});

it('only the custodian calls the nodes of SOLANA_RPC_URL, and only the API those of SOLANA_READ_RPC_URL', () => {
  // The witness is another Worker, with nodes of its own.
  const naming = (setting: RegExp) =>
    files.filter((file) => !file.startsWith('witness/') && setting.test(read(file)));
  expect(naming(/\bSOLANA_READ_RPC_URL\b/)).toEqual(['config.ts', 'wiring/sources.ts']);
  expect(naming(/\bSOLANA_RPC_URL\b/)).toEqual(['config.ts', 'wiring/custody.ts']);
  expect(naming(/from '\.\/custody\.ts'/).filter((file) => file.startsWith('wiring/'))).toEqual([
    'wiring/custodian-object.ts',
  ]);
});

const DOMAINS = ['swap', 'payments', 'tokens', 'asry', 'reserve'];

it.each(files.filter((file) => /^custody\/[a-z]+\//.test(file)))('%s imports no other domain', (file) => {
  const room = file.split('/')[1] ?? '';
  const foreign = imports(file)
    .filter((target) => target.startsWith('custody/'))
    .map((target) => target.split('/')[1] ?? '')
    .filter((other) => DOMAINS.includes(other) && other !== room);
  expect(foreign).toEqual([]);
});

it.each(files.filter((file) => /^custody\/(kernel|nodes)\//.test(file)))(
  '%s names no operation kind',
  (file) => {
    expect(read(file)).not.toMatch(/'(swap|token|asry|absr|refund)'/);
  },
);

it('only the executor, the proof and the witness request signatures', () => {
  const callers = files.filter((file) => /\bsigner\.sign\(/.test(read(file)));
  expect(callers).toEqual([
    'custody/kernel/executor.ts',
    'custody/reserve/proof.ts',
    'witness/witness-object.ts',
  ]);
});

it('only the composition and the witness import the domains of custody', () => {
  const outside = files.filter((file) => !file.startsWith('custody/'));
  const isShared = (file: string, target: string) =>
    file.startsWith('witness/') && target === 'custody/reserve/reserve-views.ts';
  const users = outside.filter((file) =>
    imports(file).some(
      (target) =>
        DOMAINS.includes(target.split('/')[1] ?? '') &&
        target.startsWith('custody/') &&
        !isShared(file, target),
    ),
  );
  expect(users.filter((file) => !file.startsWith('wiring/'))).toEqual([]);
});

it.each(files.filter((file) => /^custody\/[\w-]+\.ts$/.test(file) && file !== 'custody/custodian.ts'))(
  '%s composes no domain',
  (file) => {
    const text = read(file).replaceAll(/^(?:import|export) type [^;]*;/gm, '');
    const taken = [...text.matchAll(/from '\.\/(\w+\/[\w-]+\.ts)'/g)]
      .map(([, path = '']) => `custody/${path}`)
      .filter((target) => DOMAINS.includes(target.split('/')[1] ?? ''));
    expect(taken).toEqual([]);
  },
);

it('each folder of custody has at most 20 files', () => {
  const rooms = files.filter((file) => file.startsWith('custody/')).map((file) => posix.dirname(file));
  const sizes = [...new Set(rooms)].map(
    (room) => [room, rooms.filter((one) => one === room).length] as const,
  );
  expect(sizes.filter(([, size]) => size > 20)).toEqual([]);
});

it.each(files.filter((file) => /^(core|chain)\//.test(file)))(
  '%s has no clock, randomness, network or timer',
  (file) => {
    expect(read(file)).not.toMatch(IMPURE);
  },
);

it.each(files.filter((file) => !MAY_HOLD_SQL.test(file)))('%s contains no SQL', (file) => {
  expect(read(file)).not.toMatch(SQL);
});

it('each file is named after the thing or the verb that it contains', () => {
  expect(files.filter((file) => VAGUE.test(file))).toEqual([]);
});

it('only chain/solana imports the Solana library', () => {
  const users = files.filter((file) => /from '@solana(-program)?\//.test(read(file)));
  expect(users.filter((file) => !/^chain\/solana\/|^providers\/solana-rpc\.ts$/.test(file))).toEqual([]);
});

const SECRET_KEYS = DECLARATIONS.flatMap(([name, { custodyOnly }]) => (custodyOnly ? [name] : []));

it('only custody and the declarations name a secret key', () => {
  expect(SECRET_KEYS).toContain('SOLANA_PRIVATE_KEY');
  const named = files.filter((file) => SECRET_KEYS.some((name) => read(file).includes(name)));
  expect(named.filter((file) => !file.startsWith('custody/'))).toEqual(['config.ts']);
});

// The MCP server is a separate program on the agent's machine: it reads API_BASE_URL and holds no secret.
it('only config.ts reads settings, and only custody/secrets.ts and the witness read secret keys', () => {
  const readers = files
    .filter((file) => !file.startsWith('mcp/'))
    .filter((file) =>
      /\benv\.[A-Z][A-Z_]+|\benv\[|Reflect\.get\(env\b|arse\(env\b|\bprocess\.env\b/.test(
        read(file).replace(/\benv\.(DB|KV|ASSETS|VERSION|CUSTODIAN|PAGE_VIEWS|WITNESS)\b/g, ''),
      ),
    );
  expect(readers).toEqual(['config.ts', 'custody/secrets.ts', 'witness/settings.ts']);
});

it('imports form no cycle, not even of types', () => {
  const free = new Set<string>();
  const circleFrom = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path, file];
    if (free.has(file) || !files.includes(file)) return undefined;
    const circle = imports(file)
      .map((target) => circleFrom(target, [...path, file]))
      .find(Boolean);
    free.add(file);
    return circle;
  };
  expect(files.map((file) => circleFrom(file, [])).find(Boolean)).toBeUndefined();
});
