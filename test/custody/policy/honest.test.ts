import { expect, it } from 'vitest';
import { TOOLS } from '../../../src/bridges/lifi-quote.ts';
import {
  decodeTransactionText,
  encodeMessage,
  encodeTransaction,
} from '../../../src/chain/solana/message.ts';
import { checkInstructions } from '../../../src/custody/policy/instructions.ts';
import { checkSwapPolicy, openTransaction, withLifetime } from '../../../src/custody/policy/policy.ts';
import { TRACKER_PROGRAM, trackerAccount } from '../../../src/custody/policy/programs.ts';
import { decodeMessage } from '../../chain/solana/decode-message.ts';
import mayan from '../../fixtures/lifi/mayan-sol.json' with { type: 'json' };
import relay from '../../fixtures/lifi/relaydepository-wsol.json' with { type: 'json' };
import { draftSwap, finish, RENT, wallet } from './draft.ts';

const CASES = TOOLS.flatMap((tool) => Array.from({ length: 30 }, (_, seed) => [tool, seed + 1] as const));

it.each(CASES)(
  'an honest swap by %s passes in every arrangement and with every fee payer (%i)',
  async (tool, seed) => {
    const draft = draftSwap(tool, seed);
    const input = finish(draft);
    const verdict = await checkSwapPolicy(input);
    expect(verdict).toMatchObject({ ok: true, tool, depositAddress: tool === 'near' ? draft.deposit : null });
    if (!verdict.ok) return;
    expect(verdict.spend).toBeGreaterThan(draft.amount);
    expect(verdict.spend).toBeLessThanOrEqual(draft.amount + 505_000n + (tool === 'near' ? 0n : RENT));
    expect(verdict.claims).toHaveLength(3);
  },
);

it('the signed message has our own blockhash and otherwise equals the checked one', async () => {
  const draft = { ...draftSwap('near', 7), inTable: [], version: 0 as const };
  const input = finish(draft);
  const opened = openTransaction(input.data, input.terms.reserveAddress);
  if (!opened.ok) throw new Error(opened.reason);
  const ours = withLifetime(opened.transaction, input.lifetime);
  const [message, unsigned] = [encodeMessage(ours), encodeTransaction(ours)];
  const read = decodeMessage(message);
  expect(read.blockhash).toBe(wallet(31));
  expect(read.instructions.map(({ program, data }) => [program, data])).toEqual(
    draft.instructions.map(({ program, data }) => [program, data]),
  );
  expect(unsigned.slice(0, 65)).toEqual(Uint8Array.from([1, ...new Uint8Array(64)]));
  expect(unsigned.slice(65)).toEqual(message);
  expect(await checkSwapPolicy(input)).toMatchObject({ ok: true, message });
});

it('the recorded tracker accounts are those of the epochs in which they were recorded', () => {
  const decoded = decodeTransactionText(relay.data);
  if (!decoded.ok) throw new Error(decoded.reason);
  expect(decoded.transaction.keys).toEqual(
    expect.arrayContaining([expect.toBeOneOf([trackerAccount(1_026n), trackerAccount(1_027n)])]),
  );
});

const [reserve] = [relay.fromAddress];
it.each([
  ['relaydepository', relay.data, reserve, 'table_unread', 'program_unknown'],
  ['mayan', mayan.data, undefined, 'table_unread', 'program_not_on_route'],
])(
  'decodes a recorded transaction of %s, and refuses it for its content',
  (_name, data, from, reason, bareReason) => {
    const decoded = decodeTransactionText(data);
    if (!decoded.ok) throw new Error(decoded.reason);
    const reserveAddress = from ?? decoded.transaction.keys[0] ?? '';
    const opened = openTransaction(data, reserveAddress);
    if (!opened.ok) throw new Error(opened.reason);
    const input = finish(draftSwap('near', 1));
    const terms = { ...input.terms, reserveAddress };
    const evidence = {
      ...input,
      tool: 'near' as const,
      transactionId: relay.transactionId,
      terms,
      minimumSats: input.order.floorSats,
      expectedSats: input.order.floorSats,
    };
    expect(checkInstructions(opened.transaction, evidence)).toMatchObject({ ok: false, reason });
    // Without the keys of its tables it fails at the first program that none of our routes uses.
    const known = opened.transaction.keys.length;
    const local = opened.transaction.instructions.filter(
      ({ program, accounts }) =>
        accounts.every((place) => place < known) && opened.transaction.keys[program] !== TRACKER_PROGRAM,
    );
    const bare = { ...opened.transaction, tables: [], instructions: local };
    expect(checkInstructions(bare, evidence)).toMatchObject({ ok: false, reason: bareReason });
  },
);
