import { describe, expect, it } from 'vitest';
import { sendSigned } from '../../scripts/ops/send-signed.ts';
import { EXPIRY_BLOCKS } from '../../src/chain/solana/transaction.ts';
import type { SolanaRpc } from '../../src/providers/solana-rpc.ts';
import { RESERVE } from '../kit/addresses.ts';
import { BLOCKHASH } from '../kit/fake-bridge.ts';

const PREPARED = {
  payer: { address: RESERVE, sign: async () => new Uint8Array(64) },
  others: [],
  budget: { units: 1, unitPrice: 1n },
  instructions: [],
};

/** Two nodes that drop what they get before this send; then the transaction is final after a poll. */
function dropping(sends: number) {
  const sent: string[] = [];
  let height = 1_000n;
  const nodes = ['one', 'two'].map((name) => ({
    name,
    latestBlockhash: async () => ({ blockhash: BLOCKHASH, slot: 1n }),
    async epochInfo() {
      height += 40n;
      return { slot: height, blockHeight: height };
    },
    signatureStatuses: async () => ({
      statuses: [sent.length >= sends ? { commitment: 'finalized', err: null } : null],
    }),
    send: async () => void sent.push(name),
  }));
  const first = async (read: (node: unknown) => unknown) => read(nodes[0]);
  return { rpc: { nodes, first } as unknown as SolanaRpc, sent, height: () => height };
}

describe('a transaction that keys on the operator machine sign', () => {
  it('a transaction that nodes drop is sent to every node again until it is final', async () => {
    const { rpc, sent } = dropping(4);
    await sendSigned(rpc, PREPARED, () => undefined);
    expect(sent).toEqual(['one', 'two', 'one', 'two']);
  });

  it('a transaction that never lands ends with its expiry', async () => {
    const { rpc, height } = dropping(Number.POSITIVE_INFINITY);
    await expect(sendSigned(rpc, PREPARED, () => undefined)).rejects.toThrow('has expired');
    expect(height()).toBeLessThan(1_000n + EXPIRY_BLOCKS + 100n);
  });
});
