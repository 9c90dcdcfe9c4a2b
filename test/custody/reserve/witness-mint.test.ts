import { base58, base64 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import type { MintMultisig } from '../../../src/chain/solana/token-messages.ts';
import { EXPIRY_BLOCKS, ofTwoSigners, signedTransaction } from '../../../src/chain/solana/transaction.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { createReserveService } from './reserve-service.ts';

const DUE = Date.UTC(2026, 4, 10, 0, 5);
const MULTISIG = base58.encode(new Uint8Array(32).fill(21));
const WITNESS = base58.encode(new Uint8Array(32).fill(22));
const COSIGNATURE = new Uint8Array(64).fill(7);

type Asked = { readonly at: number; readonly transaction: string };

/** A funded reserve at the time of its mint. @param multisig what the nodes show at the address of the authority */
function start({ multisig = { address: MULTISIG, witness: WITNESS } as MintMultisig | null } = {}) {
  const witness: { failure: string | null; readonly asked: Asked[] } = { failure: null, asked: [] };
  const service = createReserveService({
    at: DUE,
    mints: true,
    witness: {
      multisig: MULTISIG,
      readMultisig: async () => multisig,
      async cosign(transaction, key) {
        expect(key).toBe(WITNESS);
        const { message, first } = ofTwoSigners(base64.decode(transaction));
        witness.asked.push({ at: service.clock.now, transaction });
        if (witness.failure !== null) throw upstreamFailed('witness', witness.failure);
        return base64.encode(signedTransaction(message, [first, COSIGNATURE]).wire);
      },
    },
  });
  service.bitcoin.move(50_000n);
  for (let block = 0; block < 6; block++) service.bitcoin.mine();
  return { ...service, witness };
}

describe('a mint with a witness', () => {
  it('sends the transaction with the signatures of the reserve and of the witness', async () => {
    const w = start();
    await w.custody.wake();
    await w.pass(60_000);
    await w.custody.wake();
    expect(w.mints()).toEqual([5_000_000n]);
    const [wire = ''] = w.wires;
    const bytes = base64.decode(wire);
    expect([bytes[0], bytes.slice(65, 129)]).toEqual([2, COSIGNATURE]);
  });

  it.each(['witness_unreachable', 'witness_refused_earlier_mint_open'])(
    'after %s, does not send the mint, names the cause, and mints once the witness signs again',
    async (failure) => {
      const w = start();
      w.witness.failure = failure;
      await w.custody.wake();
      await w.pass(60_000);
      expect(w.wires).toEqual([]);
      const { mint } = await w.custody.report();
      expect(mint).toMatchObject({ state: 'waiting', reason: `upstream_${failure}`, ok: false });
      w.witness.failure = null;
      await w.pass(10 * 60_000);
      expect(w.mints()).toEqual([5_000_000n]);
      expect(new Set(w.wires).size).toBe(1);
    },
  );

  it('sends the witness a mint only while no other mint may still land, however often the witness refuses', async () => {
    const w = start();
    w.witness.failure = 'witness_refused_earlier_mint_open';
    await w.custody.wake();
    await w.pass(30 * 60_000);
    const { asked } = w.witness;
    const messages = [...new Set(asked.map(({ transaction }) => transaction))];
    expect(messages.length).toBeGreaterThan(5);
    const firstAsked = messages.map(
      (message) => asked.find(({ transaction }) => transaction === message)?.at ?? 0,
    );
    const gaps = firstAsked.slice(1).map((at, index) => at - (firstAsked[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(Number(EXPIRY_BLOCKS) * 400);
  });

  it('does not mint if the authority is not a multisig of the reserve and another key', async () => {
    const w = start({ multisig: null });
    await w.custody.wake();
    expect([w.witness.asked, w.mints()]).toEqual([[], []]);
    expect((await w.custody.report()).mint).toMatchObject({ state: 'failed', reason: 'not_mint_authority' });
  });
});
