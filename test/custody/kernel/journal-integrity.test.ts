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
import { createFakeMirror } from '../../kit/fake-mirror.ts';
import { historyOf } from '../../kit/history.ts';
import { NOW, planned } from '../../kit/sample-operations.ts';
import { playScenes } from '../../kit/scenes.ts';
import { createSqliteStorage } from '../../kit/sqlite-storage.ts';

/** A journal in storage of its own, and what its changes deliver to D1. */
function createJournal() {
  const storage = createSqliteStorage();
  const journal = new Journal(storage);
  return {
    journal,
    write: (id: string) => storage.transaction(() => journal.insert(planned({ id }))),
    async deliverTo(mirror: JournalCheckPorts['mirror']) {
      const mark = storage.transaction(() => journal.queue.takeMark());
      await mirror.apply(journal.queue.waiting(99), mark, undefined);
    },
  };
}

/** The start of a journal over D1 and one node, which lists no transaction of the reserve at first. */
function createVerbs() {
  const { journal, write, deliverTo } = createJournal();
  let mirror = createFakeMirror();
  const logged: string[] = [];
  const asked: string[] = [];
  /** The signer of each listed transaction, the newest first; undefined if no node returns it. */
  const listed = new Map<string, string | undefined>();
  /** Lamports of the reserve before the oldest listed transaction, and now. */
  const chain = {
    isDown: false,
    height: 1_000n as bigint | undefined,
    firstBlock: 0n,
    before: 0n,
    balance: 0n,
  };
  const ports = (): JournalCheckPorts => ({
    journal,
    mirror,
    log: (line) => logged.push(`${line.level} ${line.reason}`),
    reserveAddress: 'reserve',
    now: () => NOW,
    history: historyOf(
      async ({ limit }) => {
        if (chain.isDown) throw new Error('no node');
        const entry = { slot: 1n, err: null, blockTime: null };
        return [...listed.keys()].slice(0, limit).map((signature) => ({ signature, ...entry }));
      },
      async () => chain.firstBlock,
    ),
    balance: async () => chain.balance,
    async height() {
      if (chain.height === undefined) throw new Error('no height');
      return chain.height;
    },
    async transaction(signature) {
      asked.push(signature);
      if (signature === 'newer') throw upstreamFailed('solana-rpc', 'rpc_-32015');
      const signer = listed.get(signature);
      return signer
        ? { signers: [signer], accounts: [signer, 'reserve'], preLamports: [1n, chain.before] }
        : null;
    },
  });
  return {
    /** @param transactions `NAME:SIGNER`; `newer` has an unknown version */
    lists(...transactions: string[]) {
      for (const [name = '', signer] of transactions.map((each) => each.split(':'))) listed.set(name, signer);
    },
    dust(count: string) {
      for (let at = 0; at < Number(count); at++) listed.set(`dust-${at}`, 'somebody');
    },
    set: (figure: 'firstBlock' | 'before' | 'balance' | 'height', value: string) =>
      Object.assign(chain, { [figure]: value === 'unread' ? undefined : BigInt(value) }),
    'no-node': () => Object.assign(chain, { isDown: true }),
    'd1-down': () => Object.assign(mirror, { state: 'down' }),
    'forget-d1': () => {
      mirror = createFakeMirror();
    },
    write,
    deliver: () => deliverTo(mirror),
    /** D1 has rows that were lost with a later state of this journal. */
    async lose() {
      const later = createJournal();
      for (const id of ['a', 'b', 'c']) later.write(id);
      await later.deliverTo(mirror);
      write('a');
    },
    freeze: (why: 'unexplained_spend') => freeze(journal, why, () => {}),
    unfreeze: () => unfreeze(journal),
    'lose-again': () => journal.setMeta('frozen', ''),
    check: () => checkJournal(ports()).catch(({ message }) => message),
    frozen: () => frozenReason(journal) ?? 'no',
    logged: () => logged.join() || 'nothing',
    asked: () => asked.join() || 'nothing',
    /** What the operator's command is told while it comes too early. */
    async early() {
      const told = await tooEarly(journal, ports(), await mirror.mark());
      return /(\d+) more blocks\. Retry in \d+ seconds/.exec(told ?? '')?.[0] ?? told ?? 'no';
    },
  };
}

const PRUNED = 'journal_empty_but_history_pruned';

playScenes(`
  an empty journal is accepted if the reserve has never signed, and is not checked again
    | lists deposit:somebody; check = true; check = true; asked = deposit; frozen = no
  a first start ignores a listed transaction of a newer message version than the reserve ever signs
    | lists newer deposit:somebody; check = true; asked = newer,deposit
  an empty journal is frozen if the reserve has signed before, because the earlier journal is lost
    | lists deposit:somebody swap:reserve; check = false; frozen = journal_empty_but_reserve_has_signed; logged = alarm journal_empty_but_reserve_has_signed
  a first start treats a listed transaction that no node returns as possibly signed by the reserve
    | lists unknown; check = false
  a first start is frozen if the reserve may have signed a transaction older than the listed dust
    | dust 500; lists swap:reserve; check = false
  a first start is frozen when a pruned node shows only an empty list while the reserve has lamports
    | set firstBlock 900; set balance 5; check = false; frozen = ${PRUNED}; logged = alarm ${PRUNED}
  a first start is frozen when a pruned node shows only a list that begins with lamports
    | set firstBlock 900; lists deposit:somebody; set before 5; check = false; frozen = ${PRUNED}; logged = alarm ${PRUNED}
  a first start is frozen when a pruned node shows only a list that begins with an unreadable transaction
    | set firstBlock 900; lists newer; check = false; frozen = ${PRUNED}; logged = alarm ${PRUNED}
  an empty journal is accepted on a node of short history when the reserve is empty
    | set firstBlock 900; check = true
  an empty journal is accepted on a node of short history when the list begins with the first lamports
    | set firstBlock 900; lists deposit:somebody; set balance 5; check = true
  an empty journal is accepted when the node keeps all history
    | set balance 5; check = true
  an empty journal is neither accepted nor frozen if D1 cannot be read
    | d1-down; check = D1_ERROR: network connection lost; frozen = no
  an empty journal is neither accepted nor frozen if the chain cannot be read
    | no-node; check = no node; frozen = no
  a later start continues without reading the chain if D1 has the same or a lower revision
    | lists swap:reserve; write a; deliver; write b; check = true; asked = nothing
  a later start is frozen, and stays frozen, if D1 has a higher revision than the journal
    | lose; check = false; frozen = journal_behind_mirror; forget-d1; check = false; frozen = journal_behind_mirror
  the end of a freeze also confirms a new journal
    | lists swap:reserve; check = false; unfreeze; frozen = no; check = true
  a loss is resolved once 183 blocks have followed its first check, and later checks do not prolong the wait
    | lose; early = no; check; early = 183 more blocks. Retry in 74 seconds; set height 1182; check; early = 1 more blocks. Retry in 1 seconds; set height 1183; early = no
  the wait after a loss starts when nodes first show the height, and starts again with each loss
    | lose; set height unread; check = no height; frozen = journal_behind_mirror; set height 5000; check; early = 183 more blocks. Retry in 74 seconds;
      set height 5183; early = no; lose-again; set height 9000; check; early = 183 more blocks. Retry in 74 seconds; set height 9183; early = no
  a freeze whose reason is not a lost journal is lifted at once
    | freeze unexplained_spend; early = no
`)(createVerbs);
