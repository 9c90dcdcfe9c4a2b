import { base58 } from '@scure/base';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sendSigned } from '../../scripts/ops/send-signed.ts';
import { EXPIRY_BLOCKS } from '../../src/chain/solana/transaction.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import { RpcRefusal, type SolanaRpc } from '../../src/providers/solana-rpc.ts';
import { RESERVE } from '../kit/addresses.ts';
import { BLOCKHASH } from '../kit/fake-bridge.ts';
import { eachRow } from '../kit/scenes.ts';

const PREPARED = {
  payer: { address: RESERVE, sign: async () => new Uint8Array(64) },
  others: [],
  budget: { units: 1, unitPrice: 1n },
  instructions: [],
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * Two nodes that drop what they get before this number of sends; then all is final. The first reads and sends fail, and
 * all polls but every 141st. Each read shows a height of 20 more blocks.
 */
function dropping({
  sends,
  failedReads = 0,
  failedSends = 0,
  blocks = 20,
  ...more
}: Readonly<Record<string, number>>) {
  const sent: { readonly name: string; readonly at: number }[] = [];
  const looks: (readonly string[])[] = [];
  let [height, polls, tries] = [1_000n, 0, 0];
  const nodes = ['one', 'two'].map((name) => ({
    name,
    latestBlockhash: async () => ({ blockhash: BLOCKHASH, slot: 1n }),
    isBlockhashValid: async () => ({ valid: true }),
    async epochInfo(commitment: string) {
      height += BigInt(blocks);
      const isCut = more.cut && Math.floor(polls / 2) % 141 < 140;
      if (commitment === 'finalized' && (polls++ < failedReads || isCut))
        throw upstreamFailed('rpc', 'http_429');
      return { slot: height, blockHeight: height };
    },
    async signatureStatuses(signatures: readonly string[]) {
      looks.push(signatures);
      const status =
        sent.length >= (sends ?? 0) ? { commitment: 'finalized', err: more.failed ? {} : null } : null;
      return { statuses: signatures.map(() => status) };
    },
    async send() {
      if (more.refused) throw new RpcRefusal(-32_002, 'Blockhash not found', undefined);
      if (tries++ < failedSends) throw upstreamFailed('rpc', 'http_429');
      sent.push({ name, at: Date.now() });
    },
  }));
  const first = async (read: (node: unknown) => unknown) => read(nodes[0]);
  return { rpc: { nodes, first } as unknown as SolanaRpc, sent, looks, height: () => height };
}

/** @returns the texts of what failed */
async function sending(rpc: SolanaRpc, count = 1): Promise<string[]> {
  const transactions = Array.from({ length: count }, (_, at) => {
    const payer = { address: RESERVE, sign: async () => new Uint8Array(64).fill(at) };
    return { ...PREPARED, payer };
  });
  const ended = sendSigned(rpc, transactions, () => undefined);
  await vi.runAllTimersAsync();
  return [...(await ended).values()].map(String);
}

/** Three nodes, the first of which lies; the honest ones show a transaction as confirmed after 6 sends, and as final after 12. */
function withLiar(lie: Readonly<Record<string, (signatures: readonly string[]) => unknown>>) {
  let [sends, height] = [0, 1_000n];
  const honest = {
    latestBlockhash: async () => ({ blockhash: BLOCKHASH, slot: 1n }),
    isBlockhashValid: async (blockhash: string) => ({ valid: blockhash === BLOCKHASH }),
    epochInfo: async () => ({ slot: height, blockHeight: height++ }),
    async signatureStatuses(signatures: readonly string[]) {
      const status = { commitment: sends >= 12 ? 'finalized' : 'confirmed', err: null };
      return { statuses: signatures.map(() => (sends >= 6 ? status : null)) };
    },
    async send(wire: string) {
      if (!Buffer.from(wire, 'base64').includes(base58.decode(BLOCKHASH)))
        throw new RpcRefusal(-32_002, 'Blockhash not found', undefined);
      sends++;
    },
  };
  const nodes = [{ ...honest, ...lie }, honest, honest];
  const first = async (read: (node: unknown) => unknown) => read(nodes[0]);
  return { rpc: { nodes, first } as unknown as SolanaRpc, sends: () => sends };
}
const all = (status: object) => async (signatures: readonly string[]) => ({
  statuses: signatures.map(() => status),
});

describe('one lying node of three', () => {
  it.each([
    [
      'an end that came before the first send',
      { signatureStatuses: all({ commitment: 'finalized', err: null }) },
      6,
    ],
    ['a failure', { signatureStatuses: all({ commitment: 'finalized', err: {} }) }, 6],
    ['an invented blockhash', { latestBlockhash: async () => ({ blockhash: RESERVE, slot: 2n }) }, 12],
    ['a height far ahead', { epochInfo: async () => ({ slot: 10n ** 12n, blockHeight: 10n ** 12n }) }, 12],
  ])('that shows %s decides nothing', async (_title, lie, needed) => {
    const { rpc, sends } = withLiar(lie);
    expect(await sending(rpc)).toEqual([]);
    expect(sends()).toBe(needed);
  });
});

it('a transaction that nodes drop is sent to every node again every 2 s until it is final', async () => {
  const { rpc, sent } = dropping({ sends: 4 });
  expect(await sending(rpc)).toEqual([]);
  expect(sent.map(({ name }) => name)).toEqual(['one', 'two', 'one', 'two']);
  expect((sent[2]?.at ?? 0) - (sent[0]?.at ?? 0)).toBe(2_000);
});

/** What the nodes do, the sends that they received, and the text of the failure. */
eachRow<[title: string, nodes: Readonly<Record<string, number>>, sends: number, failure: string]>(`
  a read that fails does not end the sends                                         | { "sends": 4, "failedReads": 6 }            | 6   |
  reads that fail for less than five minutes at a time do not end the sends        | { "sends": 700, "cut": 1, "blocks": 0 }     | 844 |
  the sends end when no node shows the chain for five minutes                      | { "sends": 1, "failedReads": 9999 }         | 300 | upstream
  a transaction is sent again if no node has accepted the first send               | { "sends": 2, "failedSends": 2 }            | 2   |
  a transaction that every node refuses before any has accepted it fails           | { "sends": 2, "refused": 1 }                | 0   | Blockhash not found
  a transaction that failed on the chain fails                                     | { "sends": 2, "failed": 1 }                 | 2   | failed on the chain
`)('%s', async (_title, nodes, sends, failure) => {
  const { rpc, sent } = dropping(nodes);
  expect(await sending(rpc)).toEqual(failure === '' ? [] : [expect.stringContaining(failure)]);
  expect(sent).toHaveLength(sends);
});

it('a transaction that never lands ends with its expiry', async () => {
  const { rpc, height } = dropping({ sends: Number.POSITIVE_INFINITY });
  expect(await sending(rpc)).toEqual([expect.stringContaining('has expired')]);
  expect(height()).toBeLessThan(1_000n + EXPIRY_BLOCKS + 100n);
});

it('ten transactions share the status read of each poll', async () => {
  const { rpc, looks } = dropping({ sends: 40 });
  expect(await sending(rpc, 10)).toEqual([]);
  expect(looks.map(({ length }) => length)).toEqual([10, 10, 10, 10, 10, 10]);
});
