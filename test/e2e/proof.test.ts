import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import { address } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { askPeers } from '../chain/bitcoin/peers.ts';
import { runScript } from '../kit/run-script.ts';
import { mintOfTheDay } from '../world/mint-of-the-day.ts';
import { buildTransaction } from '../world/solana-wallet.ts';
import { startWorld, type World } from '../world/world.ts';
import { mintEnds, until } from './swap-caller.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ cron: false, blockMs: 0 });
});
afterAll(() => world?.stop());
afterEach(() => world.faults.clear());

const UPSTREAMS = ['esplora1', 'esplora2', 'rpc1', 'rpc2'] as const;

type Json = Record<string, unknown>;
interface Proof {
  readonly message: string;
  readonly timestamp: string;
  readonly hash: string;
  readonly bitcoin: {
    readonly address: string;
    readonly signature: string;
    readonly signatureUnprefixed: string;
  };
  readonly solana: { readonly address: string; readonly signature: string };
  readonly figures: Json;
}

async function get<T = Json>(path: string): Promise<{ status: number; body: T }> {
  const response = await world.fetch(path);
  return { status: response.status, body: (await response.json()) as T };
}
/** The cron reads everything again, so that the response is current. */
async function getFresh<T = Json>(path: string): Promise<{ status: number; body: T }> {
  await world.control.cron('* * * * *');
  return get<T>(path);
}

const asked = (): Record<string, number> =>
  Object.fromEntries(
    Object.entries(world.stats()).flatMap(([name, { total }]) => (total > 0 ? [[name, total]] : [])),
  );

describe('the proof', () => {
  it('the proof has every contract field, and independent libraries accept both signatures', async () => {
    const { status, body } = await get<Proof>('/api/proof');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      bitcoin: { address: world.reserve.bitcoin, scheme: 'bip322-simple', offline: false },
      solana: { address: world.reserve.solana, scheme: 'ed25519-utf8' },
      figures: {
        service: new URL(world.url).host,
        reserveSatoshis: '1000000',
        absrMint: world.mints.absr,
        absrSupplyAtoms: '0',
        bitcoinTipHeight: world.bitcoin.height(),
        previousProof: null,
      },
      stale: false,
    });
    const { message, bitcoin, solana } = body;
    expect(message).toContain(`Time: ${body.timestamp}`);
    for (const signature of [bitcoin.signature, bitcoin.signatureUnprefixed]) {
      expect(askPeers({ address: bitcoin.address, message, signature })).toEqual({ 'bip322-js': true });
    }
    // Node's own ed25519, over a key in its standard wrapping (RFC 8410).
    const spki = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from(base58.decode(solana.address)),
    ]);
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    expect(verify(null, Buffer.from(message), key, Buffer.from(base58.decode(solana.signature)))).toBe(true);
  });

  it('a proof is signed once an hour, archived, and found by its date', async () => {
    const first = (await get<Proof>('/api/proof')).body;
    // The ticks begin the day's mint. Once it has landed, another proof would be due.
    world.faults.set('esplora1', { kind: 'wrongBalance', by: 1 });
    for (let tick = 0; tick < 3; tick++) {
      expect((await getFresh<Proof>('/api/proof')).body.message).toBe(first.message);
    }
    const { body } = await get<{ proofs: Proof[]; next_cursor: unknown }>('/api/proof/history');
    expect(body).toEqual({
      proofs: [
        {
          timestamp: first.timestamp,
          hash: first.hash,
          figures: first.figures,
          message: first.message,
          bitcoin: { address: first.bitcoin.address, signature: first.bitcoin.signature },
          solana: { address: first.solana.address, signature: first.solana.signature },
        },
      ],
      next_cursor: null,
    });
    expect((await get('/api/proof/history?every=day')).body).toEqual(body);
    const day = await get<Proof>(`/api/proof/${first.timestamp.slice(0, 10)}`);
    expect(day.body.message).toBe(first.message);
    expect((await get('/api/proof/2009-01-03')).body).toMatchObject({ error_code: 'NOT_FOUND' });
    expect((await get('/api/proof/2026-02-30')).body).toMatchObject({ error_code: 'INVALID_INPUT' });
  });
});

describe('npm run verify', () => {
  beforeAll(() => mintOfTheDay(world));

  /** The lines after the target. */
  const linesOf = (text: string): string[] =>
    text
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('Target: '));

  async function verifyFrom(url: string, explorers: string[], rpc = world.endpoints.rpc1) {
    const args = [url, '--explorers', explorers.join(','), '--rpc', rpc];
    const { code, stdout, stderr } = await runScript('verify', args);
    return { code, lines: linesOf(stdout || stderr) };
  }
  const explorers = () => [`${world.endpoints.esplora1}/api`, `${world.endpoints.esplora2}/api`];

  it('npm run verify prints five green lines for a valid proof', async () => {
    const { code, lines } = await verifyFrom(world.url, explorers());
    expect(lines.map((line) => line.slice(0, 22).trim())).toEqual([
      'ok   bitcoin_signature',
      'ok   solana_signature',
      'ok   reserve',
      'ok   supply',
      'ok   freshness',
    ]);
    expect(code).toBe(0);
  });

  it('a proof is still valid after blocks and deposits that it does not include', async () => {
    await world.control.sendBitcoin(world.reserve.bitcoin, 4_000n);
    await world.control.mine(2);
    expect((await verifyFrom(world.url, explorers())).code).toBe(0);
  });

  it.each([
    ['1', 'contradicts the proof', 'wrongBalance', 'RED', ['reserve']],
    ['2', 'cannot be reached', '500', '?', ['reserve', 'freshness']],
  ])('npm run verify ends with code %s when an explorer %s', async (code, _name, kind, mark, names) => {
    world.faults.set('esplora2', { kind, by: -1_000 });
    const { code: ended, lines } = await verifyFrom(world.url, explorers());
    const marked = lines
      .filter((line) => !line.startsWith('ok '))
      .map((line) => line.split(/ +/).slice(0, 2));
    expect(marked).toEqual(names.map((name) => [mark, name]));
    expect(String(ended)).toBe(code);
  });

  it('npm run verify ends with code 1 if another host shows the proof, or if there is none', async () => {
    const elsewhere = world.url.replace('127.0.0.1', 'localhost');
    const { code, lines } = await verifyFrom(elsewhere, explorers());
    expect(lines.filter((line) => line.startsWith('RED'))).toHaveLength(1);
    expect(code).toBe(1);
    expect((await verifyFrom(world.endpoints.esplora1, explorers())).code).toBe(1);
  });
});

describe('balances', () => {
  it('shows the last good balances when every upstream is down', async () => {
    for (const upstream of UPSTREAMS) world.faults.set(upstream, { kind: '500' });
    const { status, body } = await getFresh('/api/reserves');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      bitcoin: { address: world.reserve.bitcoin },
      solana: { balanceLamports: expect.any(String) },
    });
  });
});

describe('the lists', () => {
  it('the Solana list shows the reserve’s transactions, newest first, and failed ones with their error', async () => {
    const [user] = world.users;
    if (!user) throw new Error('no user');
    const good = await world.control.transfer({
      from: user,
      to: world.reserve.solana,
      asset: 'sol',
      amount: 5n,
    });
    const tooMuch = getTransferSolInstruction({
      source: user.signer,
      destination: address(world.reserve.solana),
      amount: 10n ** 15n,
    });
    const failing = await buildTransaction(world.solana.ledger, user.signer, [tooMuch]);
    await world.solana.ledger.send(failing.wire, { skipPreflight: true });
    // The cron may also begin the day's mint, whose transaction is then the newest.
    const listed = await until('both are final', async () => {
      const { body } = await getFresh<{ transactions: Json[] }>('/api/transactions/solana');
      const at = body.transactions.findIndex(({ signature }) => signature === failing.signature);
      return at < 0 ? undefined : body.transactions.slice(at);
    });
    expect(listed[0]?.err).toEqual({ InstructionError: [0, { Custom: 1 }] });
    const paid = listed.findIndex(({ signature }) => signature === good);
    expect(paid).toBeGreaterThan(0);
    expect(listed[paid]).toMatchObject({ err: null, blockTime: expect.any(Number) });
  });
});

describe('warm reads', () => {
  const PATHS = ['/api/reserves', '/api/proof', '/api/arbitrage/summary'];
  const readAll = () => Promise.all(PATHS.map((path) => get(path)));

  it("warm reads make no upstream call, and a new isolate uses the cron's values in KV", {
    tags: ['deep'],
  }, async () => {
    await world.control.cron('* * * * *');
    await mintEnds(world);
    await world.control.cron('* * * * *');
    world.resetStats();
    for (let round = 0; round < 20; round++) await readAll();
    expect(asked()).toEqual({});
    await world.worker.kill();
    await world.worker.start();
    world.resetStats();
    for (const { status, body } of await readAll()) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ stale: false });
    }
    expect(asked()).toEqual({});
  });

  it('1,000 simultaneous cold reads make one call to each source', { tags: ['deep'] }, async () => {
    const cold = await startWorld({ cron: false, blockMs: 0 });
    try {
      // The first call of the custodian compares its journal with the chain.
      await cold.fetch('/api/ready');
      cold.resetStats();
      const statuses = await Promise.all(
        Array.from({ length: 1_000 }, async () => (await cold.fetch('/api/reserves')).status),
      );
      expect(new Set(statuses)).toEqual(new Set([200]));
      const calls = Object.fromEntries(
        Object.entries(cold.stats()).flatMap(([name, { byLabel }]) =>
          Object.keys(byLabel).length > 0 ? [[name, byLabel]] : [],
        ),
      );
      expect(calls).toEqual({
        esplora1: { 'GET /api/address/:address': 1 },
        esplora2: { 'GET /api/address/:address': 1 },
        rpc1: { getBalance: 1 },
        rpc2: { getBalance: 1 },
      });
    } finally {
      await cold.stop();
    }
  });
});

it('a Bitcoin address without its key is watch-only, and its balance is still shown', {
  tags: ['deep'],
}, async () => {
  const watching = await startWorld({ cron: false, blockMs: 0, vars: { BTC_PRIVATE_KEY_WIF: undefined } });
  try {
    const proof = await watching.fetch('/api/proof');
    expect(proof.status).toBe(503);
    expect(await proof.json()).toMatchObject({
      error_code: 'NOT_CONFIGURED',
      details: { variables: ['BTC_PRIVATE_KEY_WIF'], watchOnly: true },
    });
    const reserves = await watching.fetch('/api/reserves');
    expect(await reserves.json()).toMatchObject({ bitcoin: { watchOnly: true, balanceSat: 1_000_000 } });
    await watching.control.cron('* * * * *');
    const failed = watching.worker.logs().filter((line) => line.includes('scheduled_task_failed'));
    expect(failed).toEqual([]);
  } finally {
    await watching.stop();
  }
});
