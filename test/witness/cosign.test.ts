import { ed25519 } from '@noble/curves/ed25519.js';
import { base64 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { mintMessage } from '../../src/chain/solana/token-messages.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { signedTransaction } from '../../src/chain/solana/transaction.ts';
import { sats } from '../../src/core/amount.ts';
import { type Cosigned, Witness, type WitnessNode } from '../../src/witness/cosign.ts';
import type { LastSigned } from '../../src/witness/decision.ts';
import { endingSoon } from '../kit/ending-soon.ts';
import { mintData } from '../kit/token-accounts.ts';

const keyOf = (seed: number) => new Uint8Array(32).fill(seed);
const addressOf = (seed: number) => encodeBase58(ed25519.getPublicKey(keyOf(seed)));
const TERMS = {
  custodian: addressOf(1),
  multisig: { address: addressOf(4), witness: addressOf(2) },
  mint: addressOf(5),
  owner: addressOf(6),
};
const blockhashAt = (height: number) => {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(0, height);
  return encodeBase58(bytes);
};

/** A chain of blocks with a mint, three nodes that show it, and a witness with storage that outlives it. */
function start({ reserve = 500n } = {}) {
  const chain = {
    ...{ height: 1_000, supply: 0n, reserve, reads: 0, ahead: 0, fails: false, gate: Promise.resolve() },
    hanging: '',
  };
  const stored = { row: undefined as LastSigned | undefined, signed: new Set<string>(), crash: false };
  const node = (name: string): WitnessNode => ({
    name,
    id: name,
    epochInfo: async () => {
      chain.reads += 1;
      if (chain.fails) throw new Error('down');
      return { slot: BigInt(chain.height), blockHeight: BigInt(chain.height) };
    },
    accounts: async () => ({
      ...(name === chain.hanging ? await new Promise(() => undefined) : {}),
      slot: BigInt(chain.height),
      accounts: [{ owner: TOKEN_PROGRAM, data: mintOf(chain.supply), lamports: 1n as never }],
    }),
    isBlockhashValid: async (blockhash) => ({
      slot: BigInt(chain.height + chain.ahead),
      valid: Array.from({ length: 150 }, (_, age) => blockhashAt(chain.height - age)).includes(blockhash),
    }),
  });
  const open = () =>
    new Witness({
      terms: TERMS,
      nodes: ['a', 'b', 'c'].map(node),
      indexes: 2,
      reserveViews: async () => {
        await chain.gate;
        const tip = { height: 900, hash: 'h' };
        const figures = { tip, confirmed: sats(chain.reserve), pendingSpent: sats(0n), young: [] };
        return ['x', 'y'].map((source) => ({ source, ...figures }));
      },
      sign: async (message) => ed25519.sign(message, keyOf(2)),
      stored: {
        last: () => stored.row,
        hasSigned: (signature) => stored.signed.has(signature),
        sign: async (row) => {
          stored.row = row;
          stored.signed.add(row.signature);
          if (stored.crash) throw new Error('replaced');
        },
      },
      now: () => 5_000,
      within: endingSoon,
    });
  const request = (atoms: bigint, height = chain.height) => {
    const { custodian: payer, ...terms } = TERMS;
    const mint = { ...terms, payer, program: TOKEN_PROGRAM, atoms, decimals: 2 };
    const message = mintMessage(mint, { blockhash: blockhashAt(height) });
    const signature = ed25519.sign(message, keyOf(1));
    return { message, text: base64.encode(signedTransaction(message, [signature, new Uint8Array(64)]).wire) };
  };
  return { chain, stored, open, request };
}

const mintOf = (supply: bigint) => mintData({ authority: TERMS.multisig.address, supply, decimals: 2 });

const outcome = (result: Cosigned) => (result.type === 'refused' ? result.refusal : result.type);

describe('the witness', () => {
  it('the witness stores a covered mint before it returns the signature', async () => {
    const { stored, open, request } = start();
    const { message, text } = request(50_000n);
    const result = await open().cosign(text);
    expect(
      result.type === 'signed' && ed25519.verify(result.signature, message, ed25519.getPublicKey(keyOf(2))),
    ).toBe(true);
    const heights = { a: '1000', b: '1000', c: '1000' };
    expect(stored.row).toMatchObject({ atoms: '50000', at: 5_000, heights });
  });

  it('signs a covered mint while one of three nodes hangs', async () => {
    const { chain, open, request } = start();
    chain.hanging = 'c';
    expect(outcome(await open().cosign(request(50_000n).text))).toBe('signed');
  });

  it('signs one of two mints that arrive together, and a later mint stays within the reserve', async () => {
    const { chain, open, request } = start();
    const witness = open();
    const { promise, resolve } = Promise.withResolvers<void>();
    chain.gate = promise;
    const first = witness.cosign(request(50_000n).text);
    while (chain.reads === 0) await new Promise((done) => setTimeout(done));
    expect(outcome(await witness.cosign(request(49_999n).text))).toBe('busy');
    resolve();
    expect(outcome(await first)).toBe('signed');
    expect(outcome(await witness.cosign(request(49_999n).text))).toBe('earlier_mint_open');
    chain.height += 183;
    chain.supply = 50_000n;
    expect(outcome(await witness.cosign(request(1n).text))).toBe('amount_above_reserve');
  });

  it('after a restart between the stored row and the response, signs a second mint only once the first has expired', async () => {
    const { chain, stored, open, request } = start();
    stored.crash = true;
    await expect(open().cosign(request(50_000n).text)).rejects.toThrow('replaced');
    stored.crash = false;
    expect(outcome(await open().cosign(request(50_000n).text))).toBe('earlier_mint_open');
    chain.height += 182;
    expect(outcome(await open().cosign(request(50_000n).text))).toBe('earlier_mint_open');
    chain.height += 1;
    expect(outcome(await open().cosign(request(50_000n).text))).toBe('signed');
  });

  it('does not read its sources for a mint that it signed before its last mint', async () => {
    const { chain, open, request } = start();
    const first = request(1n).text;
    expect(outcome(await open().cosign(first))).toBe('signed');
    chain.height += 183;
    chain.supply = 1n;
    expect(outcome(await open().cosign(request(2n).text))).toBe('signed');
    const { reads } = chain;
    expect(outcome(await open().cosign(first))).toBe('blockhash_expired');
    expect(chain.reads).toBe(reads);
  });

  it('does not read its sources for the transaction that it signed last, and never signs it again', async () => {
    const { chain, open, request } = start();
    const witness = open();
    const { text } = request(1n);
    expect(outcome(await witness.cosign(text))).toBe('signed');
    const { reads } = chain;
    expect(outcome(await witness.cosign(text))).toBe('earlier_mint_open');
    expect(outcome(await open().cosign(text))).toBe('earlier_mint_open');
    expect(chain.reads).toBe(reads);
  });

  it('does not read its sources for bytes that the custodian has not signed', async () => {
    const { chain, open } = start();
    for (const text of ['', '!', 'AAAA', base64.encode(new Uint8Array(1_232))])
      expect(outcome(await open().cosign(text))).toBe('not_a_mint');
    expect(chain.reads).toBe(0);
  });

  it('accepts a blockhash from a view that is up to 16 slots ahead of the height read after it', async () => {
    const { chain, open, request } = start();
    chain.ahead = 17;
    expect(outcome(await open().cosign(request(1n).text))).toBe('blockhash_unknown');
    chain.ahead = 16;
    expect(outcome(await open().cosign(request(1n).text))).toBe('signed');
  });

  it('refuses mints while its nodes are down, and signs again afterwards', async () => {
    const { chain, open, request } = start();
    const witness = open();
    chain.fails = true;
    expect(outcome(await witness.cosign(request(1n).text))).toBe('nodes_unreachable');
    chain.fails = false;
    expect(outcome(await witness.cosign(request(1n).text))).toBe('signed');
  });
});
