import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64 } from '@scure/base';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { mintMessage } from '../../src/chain/solana/token-messages.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { signedTransaction } from '../../src/chain/solana/transaction.ts';
import { startWorld, type World } from '../world/world.ts';
import { until } from './swap-caller.ts';

type Json = Record<string, unknown>;
const DAILY = '5 0 * * *';

const post = async (url: string, body: string, headers: HeadersInit = {}) => {
  const response = await fetch(url, { method: 'POST', body, headers });
  return { status: response.status, body: (await response.json()) as Json };
};

describe('a world whose mint authority needs two keys', () => {
  let world: World;
  let cosign: string;
  beforeAll(async () => {
    world = await startWorld({ cron: false, blockMs: 0, slotMs: 20, settleDelayMs: 200, witness: true });
    cosign = `${world.endpoints.witness}/cosign`;
  });
  afterAll(() => world?.stop());
  afterEach(() => world.faults.clear());

  const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(world.endpoints.rpc1, { method: 'POST', headers, body });
    return ((await response.json()) as { result: T }).result;
  };
  const supply = async () =>
    (
      await rpc<{ value: { amount: string } }>('getTokenSupply', world.mints.absr, {
        commitment: 'processed',
      })
    ).value.amount;
  const mint = async () => {
    const { custody } = (await (await world.fetch('/api/status')).json()) as { custody: { mint: Json } };
    return custody.mint;
  };

  /** A mint as a thief of the custodian's key would ask for it. */
  async function requestOf(atoms: bigint, change: Partial<Parameters<typeof mintMessage>[0]> = {}) {
    const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', {
      commitment: 'confirmed',
    });
    const { multisig, reserve } = world.solana;
    if (!multisig) throw new Error('a world without a witness');
    const pair = { address: multisig.address, witness: multisig.witness.address };
    const message = mintMessage(
      {
        payer: reserve.address,
        multisig: pair,
        owner: world.treasury,
        mint: world.mints.absr,
        program: TOKEN_PROGRAM,
        atoms,
        decimals: 0,
        ...change,
      },
      { blockhash: value.blockhash },
    );
    const own = ed25519.sign(message, base58.decode(reserve.secretKey).slice(0, 32));
    const wireWith = (second: Uint8Array) => base64.encode(signedTransaction(message, [own, second]).wire);
    return { wireWith, body: JSON.stringify({ transaction: wireWith(new Uint8Array(64)) }) };
  }

  it('shows its addresses and that it has signed nothing', async () => {
    const { multisig } = world.solana;
    const state = await (await fetch(`${world.endpoints.witness}/`)).json();
    expect(state).toEqual({
      type: 'state',
      witness: multisig?.witness.address,
      custodian: world.reserve.solana,
      mintAuthority: multisig?.address,
      mint: world.mints.absr,
      lastSigned: null,
    });
  });

  it.each([
    ['no JSON', '{', 400, 'invalid_body'],
    ['another member', '{"tx":"AA=="}', 400, 'invalid_body'],
    ['a number', '{"transaction":1}', 400, 'invalid_body'],
    ['bytes that are no transaction', '{"transaction":"AAAA"}', 409, 'not_a_mint'],
    ['an oversized body', JSON.stringify({ transaction: 'A'.repeat(5_000) }), 413, 'body_too_large'],
  ])('refuses %s', async (_, body, status, code) => {
    expect(await post(cosign, body)).toMatchObject({ status, body: { error_code: code } });
  });

  it('refuses every request of a thief of the key but a covered mint', async () => {
    const stranger = world.users[0]?.address ?? '';
    const foreign = await requestOf(1n, { owner: stranger });
    expect((await post(cosign, foreign.body)).body).toMatchObject({ error_code: 'not_a_mint' });
    const alone = await requestOf(1n, { multisig: undefined });
    expect((await post(cosign, alone.body)).body).toMatchObject({ error_code: 'not_a_mint' });
    const above = await requestOf(1_000_001n);
    expect((await post(cosign, above.body)).body).toMatchObject({ error_code: 'amount_above_reserve' });
    expect(await supply()).toBe('0');
  });

  it('the chain refuses a mint with the key of the custodian alone', async () => {
    const { wireWith } = await requestOf(5n);
    await rpc('sendTransaction', wireWith(new Uint8Array(64)), { encoding: 'base64', skipPreflight: true });
    const alone = await requestOf(5n, { multisig: undefined });
    await rpc('sendTransaction', alone.wireWith(new Uint8Array(64)), {
      encoding: 'base64',
      skipPreflight: true,
    });
    expect(await supply()).toBe('0');
  });

  it('mints nothing and names the reason while the witness is down; the rest works; back, the mint follows', async () => {
    world.faults.set('witness', { kind: 'drop' });
    await world.control.cron(DAILY);
    const waiting = await until('a mint that waits for the witness', async () => {
      const report = await mint();
      return report.reason === 'upstream_witness_unreachable' ? report : undefined;
    });
    expect(waiting).toMatchObject({ state: 'waiting', ok: false });
    expect((await world.fetch('/api/reserves')).status).toBe(200);
    expect(await supply()).toBe('0');
    world.faults.clear();
    await until('the mint of the day', async () => ((await supply()) === '1000000' ? true : undefined));
    await until('its row', async () => ((await mint()).state === 'minted' ? true : undefined));
  });

  it('signs nothing above the reserve after that mint', async () => {
    const refused = await until('the end of the first blockhash', async () => {
      const { body } = await post(cosign, (await requestOf(1n)).body);
      return body.error_code === 'earlier_mint_open' ? undefined : body.error_code;
    });
    expect(refused).toBe('amount_above_reserve');
    expect(await supply()).toBe('1000000');
  });

  it('signs one of many covered mints that a thief asks for at once', async () => {
    await world.control.sendBitcoin(world.reserve.bitcoin, 70_000n);
    await world.control.mine(3);
    const requests = await Promise.all([70_000n, 69_999n, 69_998n].map((atoms) => requestOf(atoms)));
    const answers = await Promise.all(requests.map(({ body }) => post(cosign, body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(2);
    for (const [at, { body, status }] of answers.entries())
      if (status === 200)
        await rpc('sendTransaction', requests[at]?.wireWith(base64.decode(String(body.signature))), {
          encoding: 'base64',
          skipPreflight: true,
        });
    await until('the mint of the thief', async () => ((await supply()) === '1000000' ? undefined : true));
    expect(Number(await supply())).toBeLessThanOrEqual(1_070_000);
  });
});
