/**
 * The journal check and the search for unexplained spends, with a node that omits or invents entries, or keeps little
 * history.
 */
import { describe, expect, it } from 'vitest';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { checkJournal, frozenReason } from '../../../src/custody/kernel/journal-integrity.ts';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { missingSpends } from '../../../src/custody/recovery/missing-spends.ts';
import { within } from '../../../src/http/within.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { NOW, reserveTransfer, SOL } from '../../kit/sample-operations.ts';
import { nodesOver } from '../../kit/solana-node.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { signature } from '../payments/payment-world.ts';

const OURS = signature(1);
const RESERVE = 'reserve';
const FINALIZED = 1_000;

const transfer = (signature: string, slot = 950n): ChainTransaction => reserveTransfer(signature, { slot });

type Fake = {
  readonly hides?: boolean;
  readonly isDown?: boolean;
  /** Listed by this node alone. */
  readonly invents?: ChainTransaction;
  /** The oldest slot that it keeps. */
  readonly firstBlock?: bigint;
};

/** The reserve signed one transaction, in slot 950. */
function setUp(...fakes: Fake[]) {
  const chains = fakes.map(({ hides, isDown, invents, firstBlock = 0n }) => {
    const transactions = [...(invents ? [invents] : []), transfer(OURS)].filter(
      ({ slot, signature }) => slot >= firstBlock && !(hides && signature === OURS),
    );
    const methods = { getFirstAvailableBlock: () => Number(firstBlock) };
    return isDown ? undefined : { newest: FINALIZED, transactions, methods };
  });
  const view = new SolanaView({
    nodes: nodesOver(chains),
    reserveAddress: RESERVE,
    now: () => NOW,
    within,
    log: () => undefined,
  });
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const shared = { journal, mirror: createFakeMirror(), reserveAddress: RESERVE, now: () => NOW };
  const checked = async () => {
    const isComplete = await checkJournal({
      height: async () => 1n,
      ...shared,
      history: view.historyOf(RESERVE),
      log: () => undefined,
      transaction: (signature: string) => view.transaction(signature),
      balance: async () => 9n * SOL,
    });
    return [isComplete, frozenReason(journal)];
  };
  const spends = async (explained: readonly string[] = []) => {
    const found = await missingSpends(
      {
        reserveAddress: RESERVE,
        histories: [view.historyOf(RESERVE)],
        transaction: (signature: string) => view.transaction(signature),
        isExplained: (signature) => explained.includes(signature),
      },
      journal,
      0n,
    );
    return found.map(({ signature }) => signature);
  };
  return { checked, spends };
}

const HIDES: Fake = { hides: true };
const HONEST: Fake = {};
const DOWN: Fake = { isDown: true };
const INVENTS: Fake = { invents: transfer(signature(2), 960n) };
const FAR: Fake = { invents: transfer('far', 10n ** 15n) };

const EMPTY_BUT_SIGNED = [false, 'journal_empty_but_reserve_has_signed'];

describe('the first start of an empty journal', () => {
  it.each<[string, Fake[]]>([
    ['the first of two nodes hides the transaction', [HIDES, HONEST]],
    ['the first of three hides it', [HIDES, HONEST, HONEST]],
    ['one of three hides it and one is down', [HIDES, DOWN, HONEST]],
    ['the first of three has pruned it', [{ firstBlock: 960n }, HONEST, HONEST]],
  ])('an empty journal is frozen if the reserve has signed before, even if %s', async (_name, nodes) => {
    expect(await setUp(...nodes).checked()).toEqual(EMPTY_BUT_SIGNED);
  });

  it.each<[string, Fake[]]>([
    ['one of two nodes is down', [HONEST, DOWN]],
    ['two of three are down', [DOWN, HONEST, DOWN]],
  ])('an empty journal is neither accepted nor frozen while %s', async (_name, nodes) => {
    await expect(setUp(...nodes).checked()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });

  it('a transaction that one of three nodes invents does not freeze an empty journal', async () => {
    const hiding = { ...INVENTS, hides: true };
    expect(await setUp(hiding, HIDES, HIDES).checked()).toEqual([true, undefined]);
  });
});

describe('unexplained spends', () => {
  it.each<[string, Fake[]]>([
    ['the first of two nodes does not list', [HIDES, HONEST, HONEST]],
    ['the first of three keeps no longer', [{ firstBlock: 960n }, HONEST, HONEST]],
  ])('unexplained spends include a transaction that %s', async (_name, nodes) => {
    expect(await setUp(...nodes).spends()).toEqual([OURS]);
  });

  it('a transaction of the reserve is not an unexplained spend if a row has its signature', async () => {
    expect(await setUp(HONEST).spends([OURS])).toEqual([]);
  });

  it.each<[string, Fake[]]>([
    ['in a past slot', [INVENTS, HONEST, HONEST]],
    ['in a slot that lies hours ahead', [FAR, HONEST, HONEST]],
  ])('unexplained spends omit a transaction that one of three nodes invents %s', async (_name, nodes) => {
    expect(await setUp(...nodes).spends()).toEqual([OURS]);
  });

  it.each<[string, Fake[]]>([
    ['one of two nodes hides it', [HIDES, HONEST]],
    ['one of two nodes has pruned it', [{ firstBlock: 960n }, HONEST]],
    ['one of two nodes invents it', [INVENTS, HONEST]],
    ['two of three have pruned it', [{ firstBlock: 960n }, { firstBlock: 960n }, HONEST]],
  ])('unexplained spends are unknown while a transaction has no quorum: %s', async (_name, nodes) => {
    await expect(setUp(...nodes).spends()).rejects.toThrow(/must show it.*add a third node/s);
  });

  it('unexplained spends need a second node, because one list cannot prove that a transaction is missing', async () => {
    await expect(setUp(HONEST, DOWN).spends()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
    await expect(setUp(DOWN, HONEST, DOWN).spends()).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  });
});
