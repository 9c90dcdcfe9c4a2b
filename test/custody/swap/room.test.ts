import { describe, expect, it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { createCustodianWorld, request } from '../../kit/custodian.ts';
import { FEE, SOL } from '../../kit/sample-operations.ts';

describe('room for swaps', () => {
  it('the largest allowed swap is the largest amount that every limit currently allows', async () => {
    const w = createCustodianWorld();
    expect(await w.custody.swapRoom()).toMatchObject({
      balanceLamports: 10n * SOL,
      maximumLamports: 2n * SOL,
      refusal: null,
    });
    await w.custody.createSwap(request({ amountLamports: 2n * SOL, client: 'a' }));
    await w.custody.createSwap(request({ amountLamports: SOL + SOL / 2n, client: 'b' }));
    expect((await w.custody.swapRoom()).maximumLamports).toBe(SOL / 2n);
    expect((await w.custody.createSwap(request({ amountLamports: SOL / 2n, client: 'c' }))).type).toBe(
      'created',
    );
    expect(await w.custody.swapRoom()).toMatchObject({
      maximumLamports: 0n,
      refusal: { code: 'SWAP_LIMIT_REACHED' },
    });
  });

  it('with a low balance, the largest allowed swap leaves the fee and the floor', async () => {
    const w = createCustodianWorld();
    w.chain.nextBalance = async () => ({ lamports: lamports(SOL), slot: 100n });
    const { maximumLamports } = await w.custody.swapRoom();
    expect(maximumLamports).toBe(SOL - SOL / 10n - FEE);
    w.clock.now += 2_000;
    expect((await w.custody.createSwap(request({ amountLamports: maximumLamports + 1n }))).type).toBe(
      'refused',
    );
    expect((await w.custody.createSwap(request({ amountLamports: maximumLamports }))).type).toBe('created');
  });

  it('while swaps are stopped, the largest allowed swap is zero, and the balance is still shown', async () => {
    const w = createCustodianWorld({ swapsDisabled: true });
    expect(await w.custody.swapRoom()).toMatchObject({
      balanceLamports: 10n * SOL,
      maximumLamports: 0n,
      refusal: { code: 'SWAPS_PAUSED' },
    });
  });

  it('shows the smallest swap even while no node returns the balance of the reserve', async () => {
    const w = createCustodianWorld();
    w.chain.nextBalance = () => Promise.reject(upstreamFailed('solana-rpc', 'timeout'));
    expect(await w.custody.swapRoom()).toMatchObject({
      balanceLamports: null,
      maximumLamports: 0n,
      refusal: { code: 'UPSTREAM_FAILED' },
      minimum: { type: 'known' },
    });
  });
});
