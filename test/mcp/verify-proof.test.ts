import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { buildProofMessage } from '../../src/chain/bitcoin/proof-message.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import type { Api } from '../../src/mcp/api-client.ts';
import { createProofVerifier } from '../../src/mcp/verify-proof.ts';
import { bitcoinAddress, signProof, solanaAddress } from '../chain/bitcoin/signed-proof.ts';

const NOW = Date.UTC(2026, 0, 2);
const message = buildProofMessage({
  ...{ service: 'sluice.test', bitcoinAddress, solanaAddress, absr: null, previousProof: null },
  ...{ reserveSats: sats(1n), solanaLamports: lamports(1n), time: new Date(NOW - 60_000).toISOString() },
  bitcoinTip: { height: 900_000, hash: 'a'.repeat(64) },
  solanaTip: { slot: 1n, blockhash: base58.encode(new Uint8Array(32).fill(9)) },
});
const missing = () => new Response('', { status: 404 });
const apiWith = (proof: object) => ({ call: async () => ({ value: proof }) }) as unknown as Api;
const proof = signProof(message);
const api = apiWith(proof);

/** A verifier whose explorers respond with 404, except while `hangs` is true. */
function setUp() {
  const state = { requests: 0, hangs: false };
  const verify = createProofVerifier()({
    sources: {
      explorerUrls: ['https://one.test/api', 'https://two.test/api'],
      rpcUrl: 'https://rpc.test',
      fetch: () => {
        state.requests += 1;
        return state.hangs ? new Promise(() => undefined) : Promise.resolve(missing());
      },
    },
    host: 'sluice.test',
    now: () => NOW,
  });
  return { state, verify };
}

it('a later call does not wait for the explorer reads of a call that the runtime has cancelled', async () => {
  const { state, verify } = setUp();
  state.hangs = true;
  void verify(api);
  await expect.poll(() => state.requests).toBe(2);
  state.hangs = false;
  expect(await verify(api)).toMatchObject({ verified: null });
});

it('reads the explorers once for all calls within a minute', async () => {
  const { state, verify } = setUp();
  for (let call = 0; call < 2; call += 1) {
    await verify(api);
    expect(state.requests).toBe(2);
  }
});

it('verified is null while sources are unreachable, and false as soon as one line is contradicted', async () => {
  const { verify } = setUp();
  const honest = await verify(api);
  expect(honest).toMatchObject({
    verified: null,
    checks: [
      { name: 'bitcoin_signature', ok: true },
      { name: 'solana_signature', ok: true },
      { name: 'reserve', ok: null },
      { name: 'supply' },
      { name: 'minting' },
      { name: 'freshness' },
    ],
  });
  const forged = { ...proof, bitcoin: { ...proof.bitcoin, signature: proof.solana.signature } };
  expect(await verify(apiWith(forged))).toMatchObject({
    verified: false,
    checks: expect.arrayContaining([expect.objectContaining({ name: 'bitcoin_signature', ok: false })]),
  });
});
