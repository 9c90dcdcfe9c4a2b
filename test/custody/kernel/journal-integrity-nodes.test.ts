/**
 * The journal check and the search for unexplained spends, with a node that omits or invents entries, or keeps little
 * history.
 */
import { expect } from 'vitest';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import { checkJournal, frozenReason } from '../../../src/custody/kernel/journal-integrity.ts';
import { SolanaView } from '../../../src/custody/nodes/solana-view.ts';
import { missingSpends } from '../../../src/custody/recovery/missing-spends.ts';
import { within } from '../../../src/http/within.ts';
import type { ChainTransaction } from '../../../src/providers/solana-rpc.ts';
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { NOW, reserveTransfer, SOL } from '../../kit/sample-operations.ts';
import { eachScene } from '../../kit/scenes.ts';
import { nodesOver } from '../../kit/solana-node.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';
import { signature } from '../payments/payment-world.ts';

const OURS = signature(1);
const RESERVE = 'reserve';
const FINALIZED = 1_000;

const transfer = (signature: string, slot = 950n): ChainTransaction => reserveTransfer(signature, { slot });

type Fake = {
  readonly hides?: boolean;
  /** Listed by this node alone. */
  readonly invents?: ChainTransaction;
  /** The oldest slot that it keeps. */
  readonly firstBlock?: bigint;
};

/** Undefined: the node is down. */
const NODES: Readonly<Record<string, Fake | undefined>> = {
  honest: {},
  hides: { hides: true },
  down: undefined,
  pruned: { firstBlock: 960n },
  invents: { invents: transfer(signature(2), 960n) },
  'hides-and-invents': { hides: true, invents: transfer(signature(2), 960n) },
  /** Hours ahead. */
  'invents-far': { invents: transfer('far', 10n ** 15n) },
};

/** The reserve signed one transaction, in slot 950. */
function setUp(names: readonly string[]) {
  const chains = names.map((name) => {
    const fake = NODES[name];
    if (!fake) return undefined;
    const { hides, invents, firstBlock = 0n } = fake;
    const transactions = [...(invents ? [invents] : []), transfer(OURS)].filter(
      ({ slot, signature }) => slot >= firstBlock && !(hides && signature === OURS),
    );
    const methods = { getFirstAvailableBlock: () => Number(firstBlock) };
    return { newest: FINALIZED, transactions, methods };
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
    return isComplete ? 'complete' : frozenReason(journal);
  };
  const spends = async (explained: string) => {
    const found = await missingSpends(
      {
        reserveAddress: RESERVE,
        histories: [view.historyOf(RESERVE)],
        transaction: (signature: string) => view.transaction(signature),
        isExplained: (signature) => explained === 'explained' && signature === OURS,
      },
      journal,
      0n,
    );
    return found.map(({ signature }) => (signature === OURS ? 'ours' : signature)).join() || 'none';
  };
  return { start: checked, spends };
}

eachScene(`
  an empty journal is frozen if the reserve has signed before, even if the first of two nodes hides that       | start | hides honest         | journal_empty_but_reserve_has_signed
  an empty journal is frozen if the reserve has signed before, even if the first of three nodes hides that     | start | hides honest honest  | journal_empty_but_reserve_has_signed
  an empty journal is frozen if the reserve has signed before, even if one of three hides that and one is down | start | hides down honest    | journal_empty_but_reserve_has_signed
  an empty journal is frozen if the reserve has signed before, even if the first of three has pruned that      | start | pruned honest honest | journal_empty_but_reserve_has_signed
  an empty journal is neither accepted nor frozen while one of two nodes is down                               | start | honest down          | UPSTREAM_FAILED
  an empty journal is neither accepted nor frozen while two of three nodes are down                            | start | down honest down     | UPSTREAM_FAILED
  a transaction that one of three nodes invents does not freeze an empty journal                               | start | hides-and-invents hides hides | complete
  unexplained spends include a transaction that the first of three nodes does not list                         | spends | hides honest honest  | ours
  unexplained spends include a transaction that the first of three nodes no longer keeps                       | spends | pruned honest honest | ours
  a transaction of the reserve is not an unexplained spend if a row has its signature                          | spends explained | honest     | none
  unexplained spends omit a transaction that one of three nodes invents in a past slot                         | spends | invents honest honest | ours
  unexplained spends omit a transaction that one of three nodes invents in a slot that lies hours ahead        | spends | invents-far honest honest | ours
  unexplained spends are unknown while one of two nodes hides a transaction                                    | spends | hides honest         | a third node
  unexplained spends are unknown while one of two nodes has pruned a transaction                               | spends | pruned honest        | a third node
  unexplained spends are unknown while one of two nodes invents a transaction                                  | spends | invents honest       | a third node
  unexplained spends are unknown while two of three nodes have pruned a transaction                            | spends | pruned pruned honest | a third node
  unexplained spends need a second node, because one list cannot prove that a transaction is missing           | spends | honest down          | UPSTREAM_FAILED
  unexplained spends need a second of three nodes, because one list cannot prove that a transaction is missing | spends | down honest down     | UPSTREAM_FAILED
`)('%s', async (_title, asked = '', nodes = '', expected) => {
  const [what = '', explained = ''] = asked.split(' ');
  const shown = await setUp(nodes.split(' '))
    [what as 'start' | 'spends'](explained)
    .catch(({ code, message }) => (/must show it.*add a third node/s.test(message) ? 'a third node' : code));
  expect(shown).toBe(expected);
});
