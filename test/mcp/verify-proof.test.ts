import { base58 } from '@scure/base';
import { expect, it } from 'vitest';
import { buildProofMessage } from '../../src/chain/bitcoin/proof-message.ts';
import { lamports, sats } from '../../src/core/amount.ts';
import type { Api } from '../../src/mcp/api-client.ts';
import { createProofVerifier } from '../../src/mcp/verify-proof.ts';

const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const SOLANA = base58.encode(new Uint8Array(32).fill(8));
const message = buildProofMessage({
  service: 'sluice.test',
  bitcoinAddress: BITCOIN,
  solanaAddress: SOLANA,
  reserveSats: sats(1n),
  solanaLamports: lamports(1n),
  absr: null,
  bitcoinTip: { height: 900_000, hash: 'a'.repeat(64) },
  solanaTip: { slot: 1n, blockhash: base58.encode(new Uint8Array(32).fill(9)) },
  time: '2026-01-01T00:00:01.000Z',
  previousProof: null,
});
const signed = (address: string) => ({ address, signature: 'signature' });
const proof = { message, hash: null, bitcoin: signed(BITCOIN), solana: signed(SOLANA) };
const api = { call: async () => ({ value: proof }) } as unknown as Api;

/** A verifier whose explorers respond with 404, except while `hangs` is true. */
function setUp() {
  const state = { requests: 0, hangs: false };
  const verify = createProofVerifier()({
    sources: {
      explorerUrls: ['https://one.test/api', 'https://two.test/api'],
      rpcUrl: 'https://rpc.test',
      fetch: () => {
        state.requests += 1;
        return state.hangs
          ? new Promise(() => undefined)
          : Promise.resolve(new Response('', { status: 404 }));
      },
    },
    host: 'sluice.test',
    now: Date.now,
  });
  return { state, verify };
}

it('a later call does not wait for the explorer reads of a call that the runtime has cancelled', async () => {
  const { state, verify } = setUp();
  state.hangs = true;
  void verify(api);
  await expect.poll(() => state.requests).toBe(2);
  state.hangs = false;
  expect(await verify(api)).toMatchObject({ verified: false });
});

it('reads the explorers once for all calls within a minute', async () => {
  const { state, verify } = setUp();
  await verify(api);
  expect(state.requests).toBe(2);
  await verify(api);
  expect(state.requests).toBe(2);
});
