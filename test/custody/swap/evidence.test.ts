import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import type { BridgeReport } from '../../../src/bridges/route.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { quoteFor } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';

const DEPOSIT = base58.encode(new Uint8Array(32).fill(100));
const QUOTE = { signature: 'ed25519:signed', quote: { depositAddress: DEPOSIT } };
const ID = 'swap:key-a';

/** A swap that has landed, at a bridge that shows these statuses one after the other. */
async function swapWith(shown: readonly string[], announce?: () => Promise<void>) {
  const w = createCustodianWorld();
  w.swap.now = () => w.clock.now;
  const announced: string[][] = [];
  w.bridge.nextQuote = (amount) => ({
    ok: true,
    quote: quoteFor(amount, { depositAddress: DEPOSIT, signed: JSON.stringify(QUOTE) }),
  });
  let turn = 0;
  w.bridge.nextReport = (): BridgeReport & { shown: string } => ({
    state: 'pending',
    detail: 'settling',
    shown: shown[Math.min(turn++, shown.length - 1)] ?? '',
  });
  w.bridge.announce = async (...given: string[]) => {
    announced.push(given);
    await announce?.();
  };
  await w.custody.createSwap(keyed('a'));
  land(w.chain);
  await w.pass(30 * 60_000);
  const signature = w.journal.get(ID)?.signing?.signature ?? '';
  const evidence = async (id: string) => {
    const { text = '{}', ...answer } = await w.custody.ops({ name: 'evidence', id });
    return { answer, file: JSON.parse(text) as Record<string, unknown> };
  };
  return { w, announced, signature, evidence };
}

describe('the evidence of a swap', () => {
  it('the evidence has the signed quote, the deposit, and each status of the bridge with the time of its first check', async () => {
    const { evidence, signature } = await swapWith([
      '{"status":"PENDING_DEPOSIT"}',
      '{"status":"PROCESSING"}',
    ]);
    for (const id of [ID, signature]) {
      const { answer, file } = await evidence(id);
      expect(answer.ok).toBe(true);
      expect(file).toMatchObject({
        operation: ID,
        signedQuote: QUOTE,
        deposit: { signature, lamports: '1000000000', slot: '940' },
        statuses: [{ shown: '{"status":"PENDING_DEPOSIT"}' }, { shown: '{"status":"PROCESSING"}' }],
      });
      const [first, second] = file.statuses as { at: string }[];
      expect(Date.parse(second?.at ?? '') - Date.parse(first?.at ?? '')).toBeGreaterThan(0);
    }
  });

  it('keeps the last 20 statuses of a bridge that changes them at every check', async () => {
    const { evidence } = await swapWith(Array.from({ length: 1_000 }, (_, at) => `status ${at}`));
    expect((await evidence(ID)).file.statuses).toHaveLength(20);
  });

  it('refuses the evidence of an unknown operation', async () => {
    const { evidence } = await swapWith(['x']);
    expect((await evidence('swap:other')).answer.ok).toBe(false);
  });
});

describe('the announcement of a deposit', () => {
  it('announces the deposit transaction to the bridge only once', async () => {
    const { announced, signature } = await swapWith(['x']);
    expect(announced).toEqual([[DEPOSIT, signature]]);
  });

  it('announces a deposit at most ten times, and a failed announcement does not affect the swap', async () => {
    const { announced, w } = await swapWith(['x'], () =>
      Promise.reject(upstreamFailed('bridge', 'status_500')),
    );
    expect(announced).toHaveLength(10);
    expect(w.journal.get(ID)).toMatchObject({ state: 'settling', detail: 'settling', reason: null });
    expect(w.journal.get(ID)?.outcome.announced).toBeUndefined();
  });
});
