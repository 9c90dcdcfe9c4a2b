import { base64 } from '@scure/base';
import { address } from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFaultBook } from './fault-book.ts';
import type { Upstream } from './fault-gate.ts';
import { callRpc } from './json-rpc.ts';
import { createSolanaKey } from './keys.ts';
import { createRequestCounts } from './request-counts.ts';
import { startRpcFront } from './rpc-front.ts';
import { buildTransaction, transferSol } from './solana-wallet.ts';
import { type SolanaWorld, startSolanaWorld } from './solana-world.ts';

const SOL = 1_000_000_000n;

const faults = createFaultBook();
const counts = createRequestCounts();
let solana: SolanaWorld;
let one: Upstream;
let two: Upstream;

beforeAll(async () => {
  solana = await startSolanaWorld({ slotMs: 20, reserveLamports: 10n * SOL, asrySupply: 10n ** 18n });
  one = await startRpcFront({ name: 'rpc1', ledger: solana.ledger, faults, counts });
  two = await startRpcFront({ name: 'rpc2', ledger: solana.ledger, faults, counts });
});
afterAll(async () => {
  await one.stop();
  await two.stop();
  solana.stop();
});

async function signedTransfer(lamports: bigint): Promise<{ signature: string; wire: string; to: string }> {
  const to = (await createSolanaKey()).address;
  const { signature, wire } = await buildTransaction(solana.ledger, solana.reserve.signer, [
    getTransferSolInstruction({ source: solana.reserve.signer, destination: address(to), amount: lamports }),
  ]);
  return { signature, wire: base64.encode(wire), to };
}

const send = (front: Upstream, wire: string, config: object = {}) =>
  callRpc(front.url, 'sendTransaction', [
    wire,
    { encoding: 'base64', preflightCommitment: 'processed', ...config },
  ]);

const status = async (front: Upstream, signature: string) => {
  const { result } = await callRpc(front.url, 'getSignatureStatuses', [
    [signature],
    { searchTransactionHistory: true },
  ]);
  return (result as { value: { confirmationStatus: string; confirmations: number | null; slot: number }[] })
    .value[0];
};

const balanceAt = async (front: Upstream, of: string, commitment: string) => {
  const { result } = await callRpc(front.url, 'getBalance', [of, { commitment }]);
  const { context, value } = result as { context: { slot: number }; value: number };
  return { slot: context.slot, value };
};

const balance = async (front: Upstream, of: string, commitment: string) =>
  (await balanceAt(front, of, commitment)).value;

const slotOf = (signature: string): number => {
  const landed = solana.ledger.transaction(signature);
  if (landed === null) throw new Error(`${signature} has not landed`);
  return landed.slot;
};

describe('commitment', () => {
  test('a transfer sent to one node becomes confirmed, then finalized, at the other', async () => {
    const { signature, wire, to } = await signedTransfer(SOL);
    expect(await send(one, wire)).toMatchObject({ result: signature });
    const landed = slotOf(signature);
    await solana.ledger.clock.reached(landed + 1);
    expect(await status(two, signature)).toMatchObject({
      confirmationStatus: expect.stringMatching('confirmed|finalized'),
    });
    expect(await balance(two, to, 'confirmed')).toBe(Number(SOL));
    const finalized = await balanceAt(two, to, 'finalized');
    expect(finalized.value).toBe(finalized.slot < landed ? 0 : Number(SOL));
    await solana.ledger.clock.reached(landed + 32);
    expect(await status(two, signature)).toMatchObject({
      confirmationStatus: 'finalized',
      confirmations: null,
    });
    expect(await balance(two, to, 'finalized')).toBe(Number(SOL));
  });

  test('a finalized getTransaction is null until the slot is final, then has the fee and the time in seconds', async () => {
    const { signature, wire } = await signedTransfer(SOL);
    await send(one, wire);
    const ask = async () => {
      const { result } = await callRpc(two.url, 'getTransaction', [
        signature,
        { maxSupportedTransactionVersion: 0 },
      ]);
      return result as { blockTime: number; meta: { fee: number } } | null;
    };
    const { clock } = solana.ledger;
    const early = await ask();
    const finalBefore = early !== null && clock.slot('finalized') >= slotOf(signature);
    expect(early === null || finalBefore).toBe(true);
    await clock.reached(slotOf(signature) + 32);
    const shown = await ask();
    if (shown === null) throw new Error('still null');
    expect(shown.meta.fee).toBe(5000);
    expect(Math.abs(shown.blockTime - Date.now() / 1000)).toBeLessThan(60);
  });

  test('a call uses finalized by default, and refuses a minContextSlot in the future with the current slot', async () => {
    const epoch = async (config: object) =>
      (await callRpc(one.url, 'getEpochInfo', [config])).result as {
        absoluteSlot: number;
        blockHeight: number;
      };
    await solana.ledger.clock.reached(solana.ledger.clock.slot('processed') + 40);
    const finalized = await epoch({});
    const processed = await epoch({ commitment: 'processed' });
    expect(processed.absoluteSlot - finalized.absoluteSlot).toBeGreaterThanOrEqual(32);
    expect(processed.absoluteSlot - finalized.absoluteSlot).toBe(
      processed.blockHeight - finalized.blockHeight,
    );
    const { error } = await callRpc(one.url, 'getBalance', [
      solana.reserve.address,
      { minContextSlot: processed.absoluteSlot + 1_000_000 },
    ]);
    expect(error).toMatchObject({ code: -32016, data: { contextSlot: expect.any(Number) } });
  });
});

describe('sending', () => {
  test('refuses an expired blockhash; without preflight, its transaction never lands', async () => {
    const { signature, wire } = await signedTransfer(SOL);
    const { clock } = solana.ledger;
    await clock.reached(clock.slot('processed') + 155);
    expect((await send(one, wire)).error).toMatchObject({ code: -32002, data: { err: 'BlockhashNotFound' } });
    expect(await send(one, wire, { skipPreflight: true })).toMatchObject({ result: signature });
    expect(await status(one, signature)).toBeNull();
  });

  test('a finalized preflight rejects a blockhash that is not final yet', async () => {
    const { clock } = solana.ledger;
    clock.holdFinality(true);
    await clock.reached(clock.slot('finalized') + clock.finality + 2);
    const { wire } = await signedTransfer(SOL);
    const { error } = await send(one, wire, { preflightCommitment: 'finalized' });
    clock.holdFinality(false);
    expect(error).toMatchObject({ code: -32002, data: { err: 'BlockhashNotFound' } });
  });

  test('reports the same bytes sent again as already processed', async () => {
    const { signature, wire } = await signedTransfer(SOL);
    await send(one, wire);
    expect((await send(two, wire)).error).toMatchObject({ code: -32002, data: { err: 'AlreadyProcessed' } });
    expect(await send(two, wire, { skipPreflight: true })).toMatchObject({ result: signature });
  });

  test('refuses a broken signature and an overdraft, each with its own code', async () => {
    const { wire } = await signedTransfer(SOL);
    const bytes = base64.decode(wire);
    bytes[5] = (bytes[5] ?? 0) ^ 1;
    expect((await send(one, base64.encode(bytes))).error).toMatchObject({ code: -32003 });
    const overdraft = await signedTransfer(1_000n * SOL);
    expect((await send(one, overdraft.wire)).error).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] } },
    });
  });

  test('a failing transaction sent without preflight lands with its error and pays its fee', async () => {
    const before = solana.ledger.count();
    const overdraft = await signedTransfer(1_000n * SOL);
    await send(one, overdraft.wire, { skipPreflight: true });
    expect(solana.ledger.count()).toBe(before + 1);
    expect(solana.ledger.transaction(overdraft.signature)).toMatchObject({
      fee: 5000,
      err: { InstructionError: [0, { Custom: 1 }] },
    });
  });
});

describe('history', () => {
  test('the signatures of an address are newest first, with pages by before and until', async () => {
    const receiver = await createSolanaKey();
    const sent: string[] = [];
    for (const lamports of [SOL, 2n * SOL, 3n * SOL])
      sent.unshift(
        (await transferSol(solana.ledger, solana.bank.signer, receiver.address, lamports)).signature,
      );
    const { clock } = solana.ledger;
    await clock.reached(clock.slot('processed') + 2);
    const list = async (config: object) => {
      const { result } = await callRpc(one.url, 'getSignaturesForAddress', [
        receiver.address,
        { commitment: 'confirmed', ...config },
      ]);
      return (result as { signature: string }[]).map((row) => row.signature);
    };
    expect(await list({})).toEqual(sent);
    expect(await list({ limit: 1 })).toEqual(sent.slice(0, 1));
    expect(await list({ before: sent[0] })).toEqual(sent.slice(1));
    expect(await list({ until: sent[2] })).toEqual(sent.slice(0, 2));
  });
});
