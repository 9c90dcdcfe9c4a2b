import { describe, expect, it } from 'vitest';
import { upstreamFailed } from '../../../src/core/errors.ts';
import { Journal } from '../../../src/custody/kernel/journal.ts';
import {
  checkJournal,
  freeze,
  frozenReason,
  type JournalCheckPorts,
  tooEarly,
  unfreeze,
} from '../../../src/custody/kernel/journal-integrity.ts';
import type { SignatureEntry } from '../../../src/providers/solana-rpc.ts';
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { historyOf } from '../../kit/history.ts';
import { NOW, planned } from '../../kit/sample-operations.ts';
import { rows } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

const entry = (signature: string): SignatureEntry => ({ signature, slot: 1n, err: null, blockTime: null });

type Chain = {
  /** The oldest slot that the node keeps. */
  readonly firstBlock?: bigint;
  /** Lamports of the reserve before the oldest transaction of the list, and now. */
  readonly before?: bigint;
  readonly balance?: bigint;
};

function setUp(signers: Record<string, readonly string[] | null> = {}, chain: Chain = {}) {
  const { firstBlock = 0n, before = 0n, balance = 0n } = chain;
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  const mirror = createFakeMirror();
  const logged: string[] = [];
  const asked: string[] = [];
  const heights = { now: 1_000n };
  const ports: JournalCheckPorts = {
    journal,
    mirror,
    log: (line) => logged.push(`${line.level} ${line.reason}`),
    reserveAddress: 'reserve',
    now: () => NOW,
    history: historyOf(
      async ({ limit }) => Object.keys(signers).slice(0, limit).map(entry),
      async () => firstBlock,
    ),
    balance: async () => balance,
    height: async () => heights.now,
    async transaction(signature) {
      asked.push(signature);
      if (signature === 'newer') throw upstreamFailed('solana-rpc', 'rpc_-32015');
      const shown = signers[signature] ?? null;
      return shown && { signers: shown, accounts: [...shown, 'reserve'], preLamports: [1n, before] };
    },
  };
  const write = (id: string) => storage.transaction(() => journal.insert(planned({ id })));
  const deliver = async () => {
    const mark = storage.transaction(() => journal.queue.takeMark());
    await mirror.apply(journal.queue.waiting(99), mark, undefined);
  };
  return { journal, mirror, ports, heights, logged, asked, write, deliver };
}
/** The journal in its state before some rows, over a mirror that has them. */
async function restored() {
  const w = setUp();
  const later = setUp();
  for (const id of ['a', 'b', 'c']) later.write(id);
  await later.deliver();
  w.write('a');
  return { ...w, ports: { ...w.ports, mirror: later.mirror } };
}

describe('a first start', () => {
  it('an empty journal is accepted if the reserve has never signed, and is not checked again', async () => {
    const w = setUp({ deposit: ['somebody'] });
    expect(await checkJournal(w.ports)).toBe(true);
    expect(await checkJournal(w.ports)).toBe(true);
    expect(w.asked).toEqual(['deposit']);
  });

  it('a first start ignores a listed transaction of a newer message version than the reserve ever signs', async () => {
    const w = setUp({ newer: null, deposit: ['somebody'] });
    expect(await checkJournal(w.ports)).toBe(true);
    expect(w.asked).toEqual(['newer', 'deposit']);
  });

  it('an empty journal is frozen if the reserve has signed before, because the earlier journal is lost', async () => {
    const w = setUp({ deposit: ['somebody'], swap: ['reserve'] });
    expect(await checkJournal(w.ports)).toBe(false);
    expect(frozenReason(w.journal)).toBe('journal_empty_but_reserve_has_signed');
    expect(w.logged).toEqual(['alarm journal_empty_but_reserve_has_signed']);
  });

  it('a first start treats a listed transaction that no node returns as possibly signed by the reserve', async () => {
    expect(await checkJournal(setUp({ unknown: null }).ports)).toBe(false);
  });

  it('a first start is frozen if dust may hide an older transaction of the reserve', async () => {
    const dust = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`dust-${at}`, ['somebody']]));
    expect(await checkJournal(setUp({ ...dust, swap: ['reserve'] }).ports)).toBe(false);
  });

  it.each(
    rows<[string, Record<string, readonly string[]>, Chain]>(`
    an empty list while the reserve has lamports | {} | {"firstBlock":{"big":"900"},"balance":{"big":"5"}}
    a list that begins with lamports | {"deposit":["somebody"]} | {"firstBlock":{"big":"900"},"before":{"big":"5"}}
    a list that begins with an unreadable transaction | {"newer":["x"]} | {"firstBlock":{"big":"900"}}
  `),
  )('a first start is frozen when a pruned node shows only %s', async (_name, signers, chain) => {
    const w = setUp(signers, chain);
    const reason = 'journal_empty_but_history_pruned';
    expect([await checkJournal(w.ports), frozenReason(w.journal)]).toEqual([false, reason]);
    expect(w.logged).toEqual([`alarm ${reason}`]);
  });

  it.each<[string, Record<string, readonly string[]>, Chain]>([
    ['the reserve is empty', {}, { firstBlock: 900n }],
    ['the list begins with the first lamports', { deposit: ['somebody'] }, { firstBlock: 900n, balance: 5n }],
    ['the node keeps all history', {}, { balance: 5n }],
  ])('an empty journal is accepted on a node of short history when %s', async (_name, signers, chain) => {
    expect(await checkJournal(setUp(signers, chain).ports)).toBe(true);
  });

  it('an empty journal is neither accepted nor frozen if D1 or the chain cannot be read', async () => {
    const w = setUp();
    w.mirror.state = 'down';
    await expect(checkJournal(w.ports)).rejects.toThrow('D1_ERROR');
    const noChain = { ...setUp().ports, history: historyOf(() => Promise.reject(new Error('no node'))) };
    await expect(checkJournal(noChain)).rejects.toThrow('no node');
    expect([frozenReason(w.journal), frozenReason(noChain.journal)]).toEqual([undefined, undefined]);
  });
});

describe('a later start', () => {
  it('a later start continues without reading the chain if D1 has the same or a lower revision', async () => {
    const w = setUp({ swap: ['reserve'] });
    w.write('a');
    await w.deliver();
    w.write('b');
    expect(await checkJournal(w.ports)).toBe(true);
    expect(w.asked).toEqual([]);
  });

  it('a later start is frozen, and stays frozen, if D1 has a higher revision than the journal', async () => {
    const w = await restored();
    expect([await checkJournal(w.ports), frozenReason(w.journal)]).toEqual([false, 'journal_behind_mirror']);
    w.ports.mirror = createFakeMirror();
    expect([await checkJournal(w.ports), frozenReason(w.journal)]).toEqual([false, 'journal_behind_mirror']);
  });
});

/** What the operator's command is told while it comes too early. */
const early = async (ports: JournalCheckPorts) => tooEarly(ports.journal, ports, await ports.mirror.mark());

describe('frozen', () => {
  it('the end of a freeze also confirms a new journal', async () => {
    const w = setUp({ swap: ['reserve'] });
    await checkJournal(w.ports);
    unfreeze(w.journal);
    expect(frozenReason(w.journal)).toBeUndefined();
    expect(await checkJournal(w.ports)).toBe(true);
  });

  it('a loss is resolved once 183 blocks have followed its first check, and later checks do not prolong that', async () => {
    const { ports, heights } = await restored();
    const isEarly = async () => (await early(ports)) !== undefined;
    expect(await isEarly()).toBe(false);
    await checkJournal(ports);
    expect(await early(ports)).toContain('183 more blocks. Retry in 74 seconds');
    heights.now = 1_182n;
    await checkJournal(ports);
    expect(await isEarly()).toBe(true);
    heights.now = 1_183n;
    expect(await isEarly()).toBe(false);
  });

  it('the wait after a loss starts when nodes first show the height, and starts again with each loss', async () => {
    const { journal, ports, heights } = await restored();
    const { height } = ports;
    const down = { ...ports, height: () => Promise.reject(new Error('no node')) };
    await expect(checkJournal(down)).rejects.toThrow('no node');
    expect(frozenReason(journal)).toBe('journal_behind_mirror');
    for (const at of [5_000n, 9_000n]) {
      heights.now = at;
      await checkJournal({ ...ports, height });
      expect(await early(ports)).toContain('183 more blocks');
      heights.now += 183n;
      expect(await early(ports)).toBeUndefined();
      journal.setMeta('frozen', '');
    }
  });

  it('a freeze whose reason is not a lost journal is lifted at once', async () => {
    const { journal, ports } = setUp();
    freeze(journal, 'unexplained_spend', () => {});
    expect(await early(ports)).toBeUndefined();
  });
});
