import { expect, it } from 'vitest';
import { Custodian } from '../../../src/custody/custodian.ts';
import type { History, HistoryNode } from '../../../src/custody/nodes/history.ts';
import type { ChainTransaction, SignatureEntry } from '../../../src/providers/solana-rpc.ts';
import { RESERVE, wallet } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { credit } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { SOL } from '../../kit/sample-operations.ts';
import { scenes } from '../../kit/scenes.ts';
import { playCustody } from '../custody-scenes.ts';

const MINUTE = 60_000;

/** A journal whose mark in D1 is higher, as after `restore-storage`, ten minutes after it was found. */
async function restored() {
  const w = createCustodianWorld();
  await w.custody.createSwap(keyed('a'));
  land(w.chain);
  await w.pass(2 * MINUTE);
  await w.mirror.apply([], (await w.mirror.mark()) + 5, undefined);
  const custody = w.start();
  await custody.alarm();
  w.clock.now += 10 * MINUTE;
  return { w, custody };
}

/** The reserve has signed this transaction, or one like it. */
function signs(w: CustodianWorld, like: string, change: Partial<ChainTransaction> = {}): void {
  const shown = w.swap.transactions.get(like);
  if (!shown) throw new Error(`no transaction ${like}`);
  const signed = { ...shown, signers: [RESERVE], ...change };
  w.swap.transactions.set(signed.signature, signed);
}

const RESTORED = 'swap a; land; pass 2m; raise-mark; restart; fire; wait 10m';

it.each(
  scenes(`
    a restored journal that lacks nothing is no longer frozen, but paused, after the command unfreeze
      | ${RESTORED}; frozen = journal_behind_mirror; ops unfreeze = ok; frozen = null; paused = operator; ops resume; swap b client:other = created; restart; frozen = null
    a restored journal stays frozen if D1 has a row that it lacks
      | ${RESTORED}; add-row; ops unfreeze = refused; frozen = journal_behind_mirror
    a restored journal stays frozen if the reserve signed a transaction that it lacks
      | ${RESTORED}; sign-unknown; ops unfreeze = refused; frozen = journal_behind_mirror
    a restored journal stays frozen if D1 does not respond
      | ${RESTORED}; d1 down; ops unfreeze = refused; d1 up; frozen = journal_behind_mirror
    a restored journal stays frozen until Solana has made 183 blocks, here in 73.2 seconds
      | ${RESTORED}; wait -527s; ops unfreeze = refused; frozen = journal_behind_mirror; wait 1s; ops unfreeze = ok
    a restored journal stays frozen while Solana makes no blocks, however much time passes
      | swap a; land; pass 2m; raise-mark; restart; halt; fire; wait 1d; ops unfreeze = refused; frozen = journal_behind_mirror
    storage restored to a time within an earlier freeze stays frozen until Solana has made 183 more blocks
      | ${RESTORED}; remember; ops unfreeze = ok; ops resume; raise-mark; restore-journal; ops unfreeze = refused; wait 73s; ops unfreeze = refused; wait 1s; ops unfreeze = ok
    an empty journal stays frozen, because it has lost every row
      | ${RESTORED}; lose-journal; fire; wait 10m; ops unfreeze = refused; empty = true
  `),
)('%s', (_title, steps = '') => playCustody(steps));

it('a restored journal stays frozen if a key before a rotation signed a transaction that it lacks', async () => {
  const { w } = await restored();
  const signer = { ...w.deps.signer, address: wallet(77) };
  const custody = new Custodian(w.storage, { ...w.deps, signer });
  credit(w.swap, 'lost', SOL);
  signs(w, 'lost');
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({
    ok: false,
    rows: [{ signature: 'lost' }],
  });
  w.swap.transactions.delete('lost');
  w.swap.listed = [];
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: true });
});

it('restore-storage of a lost journal leaves a mark above every mark of D1, and none in the journal', async () => {
  const { w, custody } = await restored();
  const [mark, revision] = [await w.mirror.mark(), w.journal.queue.revision()];
  w.storage.restore = async () => undefined;
  const id = new Date(w.clock.now - MINUTE).toISOString();
  expect(await custody.ops({ name: 'restore-storage', id })).toMatchObject({ ok: true });
  expect([await w.mirror.mark(), w.journal.queue.revision()]).toEqual([mark + 1, revision]);
});

/** Transactions of others that name the reserve; in slots from 1,000 on, five in each. */
function dust(w: CustodianWorld, count: number): void {
  for (let at = 0; at < count; at++) {
    credit(w.swap, `dust-${at}`, 1n);
    const slot = 1_000n + BigInt(Math.floor(at / 5));
    const [listed] = w.swap.listed;
    const shown = w.swap.transactions.get(`dust-${at}`);
    if (listed) w.swap.listed[0] = { ...listed, slot };
    if (shown) w.swap.transactions.set(`dust-${at}`, { ...shown, slot });
  }
}

it('unfreeze ends the freeze of a restored journal, even if others named the reserve 1,500 times', async () => {
  const { w, custody } = await restored();
  dust(w, 1_500);
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: true });
});

it('a repeated unfreeze continues where the interrupted one stopped, and finds a spend after 1,500 unrelated transactions', async () => {
  const { w, custody } = await restored();
  dust(w, 1_500);
  signs(w, 'dust-0');
  const { transaction } = w.swap;
  const reads: string[] = [];
  w.swap.transaction = async (signature) => {
    reads.push(signature);
    return reads.length === 700 ? null : transaction(signature);
  };
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({
    ok: false,
    message: expect.stringContaining('is listed by a node'),
  });
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({
    ok: false,
    rows: [{ signature: 'dust-0' }],
  });
  expect(reads.length).toBeLessThan(1_900);
});

/** Repeats the command in a new instance each time, until it gives another response than that more is left. */
async function repeated(w: CustodianWorld, deps = w.deps, most = 20) {
  for (let commands = 1; ; commands++) {
    const answer = await new Custodian(w.storage, deps).ops({ name: 'unfreeze' });
    if (commands === most || !answer.message.includes('it continues')) return { answer, commands };
  }
}

it('20,000 transactions of others that name the reserve delay unfreeze by several commands, each in another instance', async () => {
  const { w } = await restored();
  dust(w, 20_000);
  const { answer, commands } = await repeated(w);
  expect(answer).toMatchObject({ ok: true });
  expect(commands).toBe(9);
});

const entry = (signature: string, slot = 1_010n) => ({
  signature,
  slot,
  err: null,
  blockTime: 1,
  memo: null,
});

/** The custodian's dependencies with other nodes. None has what was `invented`. */
function withNodes(w: CustodianWorld, change: (nodes: readonly HistoryNode[]) => HistoryNode[]) {
  const { swap } = w.deps;
  const historyOf = (address: string): History => ({
    nodes: change(swap.historyOf(address).nodes),
    isAbsent: async ({ signature }) => signature.startsWith('invented'),
  });
  return { ...w.deps, swap: { ...swap, historyOf } };
}
const namedAs = (nodes: readonly HistoryNode[], ids: readonly string[], change: Partial<HistoryNode> = {}) =>
  ids.flatMap((id) => nodes.map((node) => ({ ...node, id, name: id, ...change })));

/** Two nodes list what the chain has, and the third one this. */
const withThird = (w: CustodianWorld, third: readonly SignatureEntry[], firstBlock = 0n) =>
  withNodes(w, (nodes) => [
    ...namedAs(nodes, ['one', 'two']),
    {
      id: 'three',
      name: 'three',
      async signatures({ limit, before }) {
        const from = before === undefined ? 0 : third.findIndex(({ signature }) => signature === before) + 1;
        return third.slice(from, from + limit);
      },
      firstAvailableBlock: async () => firstBlock,
    },
  ]);

it.each<[string, readonly SignatureEntry[]]>([
  ['hides it', [entry('dust-3', 1_000n)]],
  ['invents a newer transaction', [entry('invented', 10_000_000_000n)]],
])(
  'unfreeze shows a transaction that the journal lacks although one of three nodes %s',
  async (_how, third) => {
    const { w } = await restored();
    dust(w, 20);
    expect(await repeated(w, withThird(w, third))).toMatchObject({ answer: { ok: true } });
    w.journal.setMeta('frozen', 'journal_behind_mirror');
    signs(w, 'dust-19', { signature: 'lost', slot: 1_010n });
    w.swap.listed = [entry('lost'), ...w.swap.listed];
    expect((await repeated(w, withThird(w, third))).answer).toMatchObject({
      ok: false,
      rows: [{ signature: 'lost' }],
    });
  },
);

it('a restored journal stays frozen if only one of three nodes keeps its history', async () => {
  const { w } = await restored();
  const pruned = { signatures: async () => [], firstAvailableBlock: async () => 5_000n };
  const deps = withNodes(w, (nodes) => [...nodes, ...namedAs(nodes, ['two', 'three'], pruned)]);
  expect((await repeated(w, deps)).answer).toMatchObject({
    ok: false,
    message: expect.stringContaining('must keep the history since slot'),
  });
});

it('a restored journal stays frozen, however often unfreeze is typed, while the nodes lack the history since its slot', async () => {
  const { w } = await restored();
  dust(w, 3);
  const pruned = { firstAvailableBlock: async () => 990n };
  const deps = withNodes(w, (nodes) => namedAs(nodes, ['one', 'two', 'three'], pruned));
  // The lists begin after the slot up to which the journal is complete, with entries that each node shows.
  w.swap.listed = w.swap.listed.filter(({ slot }) => slot >= 1_000n);
  for (let command = 0; command < 3; command++)
    expect((await repeated(w, deps)).answer).toMatchObject({
      ok: false,
      message: expect.stringContaining('must keep the history since slot'),
    });
});

it('one node of three with a short history does not delay unfreeze, however many transactions it lists', async () => {
  const { w } = await restored();
  dust(w, 250);
  const third = w.swap.listed.filter(({ slot }) => slot >= 1_000n);
  const { answer, commands } = await repeated(w, withThird(w, third, 990n), 3);
  expect([answer.ok, commands]).toEqual([true, 1]);
});

it('a node that takes the position of another one does not continue in the list of that one', async () => {
  const { w } = await restored();
  dust(w, 900);
  signs(w, 'dust-0');
  const liars = [...w.swap.listed.slice(0, 1), entry('before', 1n)];
  const lies = { signatures: async () => liars };
  /** Names show the position, which ids do not depend on. */
  const placed = (nodes: HistoryNode[]) =>
    nodes.map((node, at) => ({ ...node, name: `solana-rpc-${at + 1}` }));
  const { transaction } = w.swap;
  let reads = 0;
  w.swap.transaction = async (signature) => (++reads === 250 ? null : transaction(signature));
  const first = withNodes(w, (nodes) =>
    placed([...namedAs(nodes, ['liar'], lies), ...namedAs(nodes, ['honest', 'other'])]),
  );
  expect((await repeated(w, first)).answer.ok).toBe(false);
  const moved = withNodes(w, (nodes) =>
    placed([...namedAs(nodes, ['honest']), ...namedAs(nodes, ['liar'], lies)]),
  );
  expect((await repeated(w, moved)).answer).toMatchObject({ ok: false, rows: [{ signature: 'dust-0' }] });
});

it('a node that invents transactions of a later slot does not hide spends from a later unfreeze', async () => {
  const { w } = await restored();
  const custody = new Custodian(
    w.storage,
    withNodes(w, (nodes) => [...nodes]),
  );
  dust(w, 20);
  const { listed } = w.swap;
  w.swap.listed = [
    ...Array.from({ length: 1_200 }, (_, n) => entry(`invented-${n}`, 10_000_000_000n)),
    ...listed,
  ];
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: true });
  w.swap.listed = listed;
  signs(w, 'dust-19', { signature: 'lost', slot: 1_010n });
  w.swap.listed = [entry('lost'), ...listed];
  w.journal.setMeta('frozen', 'journal_behind_mirror');
  expect(await custody.ops({ name: 'unfreeze' })).toMatchObject({ ok: false, rows: [{ signature: 'lost' }] });
});
