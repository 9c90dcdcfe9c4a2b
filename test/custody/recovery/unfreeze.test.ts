import { expect, it } from 'vitest';
import { Custodian } from '../../../src/custody/custodian.ts';
import type { CustodyDeps } from '../../../src/custody/dependencies.ts';
import type { HistoryNode } from '../../../src/custody/nodes/history.ts';
import type { ChainTransaction, SignatureEntry } from '../../../src/providers/solana-rpc.ts';
import { RESERVE, wallet } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld } from '../../kit/custodian.ts';
import { credit } from '../../kit/fake-bridge.ts';
import { SOL } from '../../kit/sample-operations.ts';
import { eachScene } from '../../kit/scenes.ts';
import { playCustody } from '../custody-scenes.ts';

const entry = (signature: string, slot = 1_010n): SignatureEntry => ({
  ...{ signature, slot, err: null },
  blockTime: 1,
});
const listing = (entries: readonly SignatureEntry[]): Pick<HistoryNode, 'signatures'> => ({
  async signatures({ limit, before }) {
    const from = before === undefined ? 0 : entries.findIndex(({ signature }) => signature === before) + 1;
    return entries.slice(from, from + limit);
  },
});
const since = (slot: bigint): Pick<HistoryNode, 'firstAvailableBlock'> => ({
  firstAvailableBlock: async () => slot,
});

/** What a node with another name than `honest` does. */
const LIARS: Readonly<Record<string, (w: CustodianWorld) => Partial<HistoryNode>>> = {
  hides: () => ({ ...listing([entry('dust-3', 1_000n)]), ...since(0n) }),
  invents: () => ({ ...listing([entry('invented', 10_000_000_000n)]), ...since(0n) }),
  lies: ({ swap }) => ({ signatures: async () => [...swap.listed.slice(0, 1), entry('before', 1n)] }),
  empty: () => ({ signatures: async () => [], ...since(5_000n) }),
  short: () => since(990n),
  young: ({ swap }) => ({ ...listing(swap.listed.filter(({ slot }) => slot >= 1_000n)), ...since(990n) }),
};

/** The verbs of scenes in which nodes show the history of the reserve. */
function historyVerbs(w: CustodianWorld) {
  let deps: CustodyDeps = w.deps;
  let reads = 0;
  let said = '';
  const { swap } = w;
  const { transaction } = swap;
  const change = (signature: string, over: Partial<ChainTransaction>) => {
    const shown = swap.transactions.get(signature);
    if (shown) swap.transactions.set(over.signature ?? signature, { ...shown, ...over });
  };
  return {
    /** Transactions of others that name the reserve; in slots from 1,000 on, five in each. */
    dust(count: string) {
      for (let at = 0; at < Number(count); at++) {
        const slot = 1_000n + BigInt(Math.floor(at / 5));
        credit(swap, `dust-${at}`, 1n);
        Object.assign(swap.listed[0] ?? {}, { slot });
        change(`dust-${at}`, { slot });
      }
    },
    /** The reserve has signed a transaction of the chain, or a newer one like it. */
    signs(like: string, signature = like) {
      if (like === 'new') credit(swap, signature, SOL);
      change(like === 'new' ? signature : like, { signature, signers: [RESERVE], slot: 1_010n });
      if (signature !== like && like !== 'new') swap.listed = [entry(signature), ...swap.listed];
    },
    /** It is no longer on the chain. */
    forget(signature: string) {
      swap.transactions.delete(signature);
      swap.listed = swap.listed.filter((each) => each.signature !== signature);
    },
    invent(count: string) {
      const invented = Array.from({ length: Number(count) }, (_, n) =>
        entry(`invented-${n}`, 10_000_000_000n),
      );
      swap.listed = [...invented, ...swap.listed];
    },
    'forget-invented'() {
      swap.listed = swap.listed.filter(({ signature }) => !signature.startsWith('invented'));
    },
    /** The read of this number finds nothing. */
    'fail-read'(number: string) {
      reads = 0;
      swap.transaction = async (signature) => (++reads === Number(number) ? null : transaction(signature));
    },
    'reads-are-fewer-than': (count: string) => reads < Number(count),
    'rotate-key': () => {
      deps = { ...deps, signer: { ...deps.signer, address: wallet(77) } };
    },
    /** From now on these nodes are asked, each by its name; their place shows in their log name. No node has what is invented. */
    nodes(...names: string[]) {
      const { historyOf } = w.deps.swap;
      const found = (address: string) => ({
        nodes: names.flatMap((id, at) =>
          historyOf(address).nodes.map((node) => ({
            ...node,
            ...LIARS[id.replace(/\d$/, '')]?.(w),
            ...{ id, name: `solana-rpc-${at + 1}` },
          })),
        ),
        isAbsent: async ({ signature }: { readonly signature: string }) => signature.startsWith('invented'),
      });
      deps = { ...deps, swap: { ...deps.swap, historyOf: found } };
    },
    'list-from': (slot: string) => {
      swap.listed = swap.listed.filter((each) => each.slot >= BigInt(slot));
    },
    /** Types the command in a new instance each time until it does not continue: the commands, and what it found. */
    async unfreeze(most = '20') {
      for (let commands = 1; ; commands++) {
        const { ok, message, rows = [] } = await new Custodian(w.storage, deps).ops({ name: 'unfreeze' });
        said = message;
        if (commands === Number(most) || !message.includes('it continues'))
          return [ok ? 'ok' : 'refused', `after ${commands}`, ...rows.map(({ signature }) => signature)].join(
            ' ',
          );
      }
    },
    'freeze-again': () => w.journal.setMeta('frozen', 'journal_behind_mirror'),
    says: (...words: string[]) => said.includes(words.join(' ')),
  };
}

/** A journal whose mark in D1 is higher, as after `restore-storage`, ten minutes after it was found. */
const RESTORED = 'swap a; land; pass 2m; raise-mark; restart; fire; wait 10m';

eachScene(`
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
  a restored journal stays frozen if a key before a rotation signed a transaction that it lacks
    | ${RESTORED}; rotate-key; signs new lost; unfreeze = refused after 1 lost; forget lost; unfreeze = ok after 1
  unfreeze ends the freeze of a restored journal, even if others named the reserve 1,500 times
    | ${RESTORED}; dust 1500; unfreeze 1 = ok after 1
  a repeated unfreeze continues where the interrupted command stopped, and finds a spend after 1,500 unrelated transactions
    | ${RESTORED}; dust 1500; signs dust-0; fail-read 700; unfreeze 1 = refused after 1; says is listed by a node = true; unfreeze 1 = refused after 1 dust-0; reads-are-fewer-than 1900 = true
  20,000 transactions of others that name the reserve delay unfreeze by several commands, each in another instance
    | ${RESTORED}; dust 20000; unfreeze = ok after 9
  unfreeze shows a transaction that the journal lacks although one of three nodes hides it
    | ${RESTORED}; dust 20; nodes honest1 honest2 hides; unfreeze = ok after 1; freeze-again; signs dust-19 lost; unfreeze = refused after 1 lost
  unfreeze shows a transaction that the journal lacks although one of three nodes invents a newer transaction
    | ${RESTORED}; dust 20; nodes honest1 honest2 invents; unfreeze = ok after 1; freeze-again; signs dust-19 lost; unfreeze = refused after 1 lost
  a restored journal stays frozen if only one of three nodes keeps its history
    | ${RESTORED}; nodes honest1 empty2 empty3; unfreeze = refused after 1; says must keep the history since slot = true
  a restored journal stays frozen, however often unfreeze is typed, while the nodes lack the history since its slot
    | ${RESTORED}; dust 3; nodes short1 short2 short3; list-from 1000; unfreeze = refused after 1; unfreeze = refused after 1; unfreeze = refused after 1; says must keep the history since slot = true
  one node of three with a short history does not delay unfreeze, however many transactions it lists
    | ${RESTORED}; dust 250; nodes honest1 honest2 young; unfreeze 3 = ok after 1
  a node that takes the position of another node does not continue in the other node's list
    | ${RESTORED}; dust 900; signs dust-0; nodes lies honest1 honest2; fail-read 250; unfreeze = refused after 1; nodes honest1 lies; unfreeze = refused after 1 dust-0
  a node that invents transactions of a later slot does not hide spends from a later unfreeze
    | ${RESTORED}; dust 20; nodes honest1; invent 1200; unfreeze 1 = ok after 1; forget-invented; signs dust-19 lost; freeze-again; unfreeze 1 = refused after 1 lost
`)('%s', (_title, steps = '') => {
  const w = createCustodianWorld();
  return playCustody(steps, w, historyVerbs(w));
});

it('restore-storage of a lost journal leaves a mark above every mark of D1, and no mark in the journal', async () => {
  const w = createCustodianWorld();
  await playCustody(RESTORED, w);
  const custody = w.start();
  const [mark, revision] = [await w.mirror.mark(), w.journal.queue.revision()];
  w.storage.restore = async () => undefined;
  const id = new Date(w.clock.now - 60_000).toISOString();
  expect(await custody.ops({ name: 'restore-storage', id })).toMatchObject({ ok: true });
  expect([await w.mirror.mark(), w.journal.queue.revision()]).toEqual([mark + 1, revision]);
});
