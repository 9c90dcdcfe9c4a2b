import { Signer } from 'bip322-js';
import { describe, expect, it } from 'vitest';
import { decodeMint, decodeMultisig } from '../../src/chain/solana/token-program.ts';
import { createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import { runScript } from '../kit/run-script.ts';
import { createBitcoinKey } from '../world/keys.ts';
import { transferSol } from '../world/solana-wallet.ts';
import { useWorld } from '../world/use-world.ts';
import { ask, type Body, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

type Json = Record<string, unknown>;

// The reserve's Bitcoin key is kept outside the service, as recommended.
const offlineKey = createBitcoinKey();
const world = useWorld(
  {
    cron: false,
    blockMs: 0,
    slotMs: 20,
    vars: { RESERVE_BTC_ADDRESS: offlineKey.address, BTC_PRIVATE_KEY_WIF: undefined },
  },
  async (world) => {
    await world.control.sendBitcoin(offlineKey.address, 300_000n);
    await world.control.mine(4);
  },
);

/** The command as the operator types it. */
const ops = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runScript('ops', args, { API_BASE_URL: world.url, OPS_SECRET: world.bindings.OPS_SECRET, ...env });

/** The same call without a terminal. */
const post = (body: unknown, secret = world.bindings.OPS_SECRET) => ask(world, '/api/ops', { body, secret });

const stateOf = (body: Body) => body.state as Json & { balances: Json[] };

describe('state', () => {
  const rowsOf = async () => stateOf((await post({ name: 'state' })).body).balances;

  it('ops state shows SOL, BTC and every token of the reserve and the treasury in atoms', async () => {
    const rows = await rowsOf();
    const found = (holder: string, asset: string) =>
      rows.filter((row) => row.holder === holder && row.asset === asset);
    expect(found('reserve', 'SOL')).toMatchObject([{ atoms: '10000000000', address: world.reserve.solana }]);
    expect(found('reserve', 'BTC')).toMatchObject(
      ['esplora-1', 'esplora-2'].map((note) => ({ amount: '0.003', atoms: '300000', note })),
    );
    expect(found('reserve', 'ASRY')).toMatchObject([{ atoms: '1000000000000000000' }]);
    for (const asset of ['SOL', 'ABSR', 'ASRY', 'USDC', 'USDT'])
      expect(found('treasury', asset), asset).toHaveLength(1);
  });

  it('ops state reports a chain that cannot be read, and never shows it as zero', async () => {
    for (const name of ['rpcRead', 'esplora2'] as const) world.faults.set(name, { kind: '500' });
    const { body } = await post({ name: 'state' });
    expect(body.ok).toBe(false);
    const rows = stateOf(body).balances;
    expect(rows.filter(({ asset }) => asset === 'BTC')).toHaveLength(1);
    expect(rows.filter(({ atoms }) => atoms === null).map(({ note }) => String(note).split(':')[0])).toEqual([
      'solana',
      'esplora-2',
    ]);
  });

  it('ops state prints one screen, and its exit code shows whether every part was read', async () => {
    const { code, stdout } = await ops(['state']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Target: ${world.url}, release [\\s\\S]*${world.reserve.solana}`));
    world.faults.set('esplora1', { kind: 'html' });
    expect((await ops(['state'])).code).toBe(1);
  });
});

it('ops probe shows the latency of every source and the reason for a refusal', async () => {
  const { code, stdout } = await ops(['probe']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /Called from the Worker: (\d+) of \1 sources respond\. \d+ of \d+ quotes for estimates are used\./,
  );
  world.faults.set('kraken', { kind: '429' });
  const { body } = await post({ name: 'probe' });
  expect(body.ok).toBe(false);
  expect((body.rows as Json[]).filter(({ answer }) => answer !== 'ok')).toMatchObject([
    { name: 'kraken', answer: 'rate_limited' },
  ]);
});

describe('mint --dry-run', () => {
  it('ops mint --dry-run shows a possible mint with its figures, without minting', async () => {
    const { code, stdout } = await ops(['mint', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain('a mint now would create 300000 atoms. Nothing was minted.');
    expect(stdout).toMatch(/esplora-1[\s\S]*esplora-2[\s\S]*solana-rpc-1/);
    const kinds = await world.worker.query("SELECT id FROM operations WHERE kind = 'absr'");
    expect(kinds).toEqual([]);
  });

  it('ops mint --dry-run lists the earlier mints', async () => {
    await world.control.cron('5 0 * * *');
    const day = await until('the mint', async () => {
      const { tables } = (await post({ name: 'mint-preview' })).body as {
        tables: { title: string; rows: Json[] }[];
      };
      const [last] = tables.find(({ title }) => title === 'mints')?.rows ?? [];
      return last?.state === 'done' ? last : undefined;
    });
    expect(day).toMatchObject({ mintAtoms: '300000', signature: expect.any(String) });
    const { code, stdout } = await ops(['mint', '--dry-run']);
    expect([code, stdout]).toEqual([0, expect.stringContaining('nothing to mint (minted_today)')]);
  });

  it('ops refuses mint without --dry-run', async () => {
    expect((await ops(['mint'])).code).toBe(2);
    for (const body of [{ name: 'mint' }, { name: 'mint', preview: true }])
      expect(await post(body)).toMatchObject({ status: 400, body: { error_code: 'INVALID_INPUT' } });
  });
});

it('ops refund-due lists payments that bought nothing, with their payers', async () => {
  expect((await post({ name: 'refund-due' })).body).toMatchObject({ ok: true, rows: [] });
  const caller = createTokenCaller(world);
  const invoice = await caller.invoice({ symbol: 'TWICE' });
  const lamports = BigInt(String(invoice.fee_lamports)) + 5_000_000n;
  await caller.pay(invoice, { lamports });
  // Nothing reads or confirms this invoice, so that the search of the minute cron finds the payment.
  const [row] = await until('the overpayment is written down', async () => {
    await world.control.cron();
    const rows = (await post({ name: 'refund-due' })).body.rows as Json[];
    return rows.length > 0 ? rows : undefined;
  });
  expect(row).toMatchObject({
    request: invoice.invoice_id,
    lamports: '5000000',
    payer: caller.user().address,
    reason: 'overpaid',
  });
  const { code, stdout } = await ops(['refund-due']);
  expect(code).toBe(0);
  expect(stdout).toContain('1 payments are owed back, 5000000 lamports in total (page 1).');
  expect(stdout).toContain(caller.user().address);
});

it('the operator drafts and submits an offline proof, and the service checks and publishes it', async () => {
  const { code, stdout: message, stderr } = await ops(['proof', 'message']);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Target: http[\s\S]*Sign exactly these bytes/)]);
  expect(message).toContain(offlineKey.address);
  expect((await ops(['proof', 'message'])).stdout).toBe(message);

  const thirdParty = createBitcoinKey();
  const foreign = String(Signer.sign(thirdParty.wif, thirdParty.address, message));
  const refused = await ops(['proof', 'submit', foreign]);
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('INVALID_INPUT')]);
  expect((await world.fetch('/api/proof')).status).toBe(503);

  const signature = String(Signer.sign(offlineKey.wif, offlineKey.address, message));
  const taken = await ops(['proof', 'submit', signature]);
  expect([taken.code, taken.stdout]).toEqual([0, expect.stringContaining('archived as')]);
  await world.control.cron('* * * * *');
  const proof = await until('the proof is public', async () => {
    const answer = await world.fetch('/api/proof');
    return answer.ok ? ((await answer.json()) as Json) : undefined;
  });
  expect(proof).toMatchObject({ message, bitcoin: { offline: true } });
});

describe('the operator’s route', () => {
  it.each([
    ['a destination', { name: 'resume', to: 'Vote111111111111111111111111111111111111111' }],
    ['an amount', { name: 'mint-preview', amount: '5' }],
    ['a destination of a proof', { name: 'proof-submit', signature: 'x', address: 'bc1q' }],
    ['an unknown command', { name: 'send' }],
  ])('the operator’s route refuses %s', async (_what, body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { error_code: 'INVALID_INPUT' } });
  });

  it('the operator’s route refuses a wrong secret, and the terminal reports it', async () => {
    expect((await post({ name: 'state' }, 'x'.repeat(64))).status).toBe(401);
    const { code, stderr } = await ops(['state'], { OPS_SECRET: 'x'.repeat(64) });
    expect([code, stderr]).toEqual([1, `${world.url} refused this OPS_SECRET.\n`]);
    const silent = await ops(['state'], { OPS_SECRET: '' });
    expect([silent.code, silent.stderr]).toEqual([2, expect.stringContaining('OPS_SECRET to the secret')]);
  });

  it('ops pause stops new operations, and ops resume allows them again', async () => {
    expect((await ops(['pause'])).stdout).toContain('Paused');
    const paused = await ops(['proof', 'message']);
    expect([paused.code, paused.stdout]).toEqual([1, expect.not.stringContaining(offlineKey.address)]);
    expect((await ops(['resume'])).code).toBe(0);
  });
});

describe('the hand-over of the mint authority', () => {
  const witness = '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q';
  const handOver = (...args: string[]) =>
    runScript('ops', ['mint-authority', '--witness', witness, ...args], {
      SOLANA_PRIVATE_KEY: world.bindings.SOLANA_PRIVATE_KEY,
      SOLANA_RPC_URL: world.bindings.SOLANA_RPC_URL,
      ABSR_MINT_ADDRESS: world.mints.absr,
    });
  const onChain = async <T>(address: string, decode: (owner: string, data: Uint8Array) => T) => {
    const [url = ''] = world.bindings.SOLANA_RPC_URL?.split(',') ?? [];
    const { nodes } = createSolanaRpc({ urls: [url], fetch: (target, init) => fetch(target, init) });
    const [account] = (await nodes[0]?.accounts([address], 'confirmed'))?.accounts ?? [];
    return account && decode(account.owner, account.data);
  };
  const authority = async () => (await onChain(world.mints.absr, decodeMint))?.mintAuthority;

  it('the hand-over of the mint authority is shown first, sent only with --send, and done once for any number of calls', async () => {
    const shown = await handOver();
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing was sent') });
    expect(await authority()).toBe(world.reserve.solana);
    // Anyone can calculate the address of the multisig and send lamports there first.
    const [address = ''] = /(?<=Multisig {3})\w+/.exec(shown.stdout) ?? [];
    const { ledger, reserve } = world.solana;
    await transferSol(ledger, reserve.signer, address, 900_000n);
    const sent = await handOver('--send');
    expect(sent.code, sent.stderr).toBe(0);
    const multisig = /ABSR_MINT_AUTHORITY=(\w+)/.exec(sent.stdout)?.[1] ?? '';
    expect(shown.stdout).toContain(multisig);
    expect(await authority()).toBe(multisig);
    expect(await onChain(multisig, decodeMultisig)).toEqual({
      required: 2,
      signers: [world.reserve.solana, witness],
    });
    expect(await handOver('--send')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is the mint authority already'),
    });
  });

  it.each([
    ['the reserve itself', () => world.reserve.solana],
    ['a text that is not an address', () => 'witness'],
  ])('the hand-over of the mint authority is refused with %s as the witness', async (_, key) => {
    const result = await runScript('ops', ['mint-authority', '--witness', key()], {
      SOLANA_PRIVATE_KEY: world.bindings.SOLANA_PRIVATE_KEY,
      ABSR_MINT_ADDRESS: world.mints.absr,
    });
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('another key than the reserve'),
    });
  });
});
