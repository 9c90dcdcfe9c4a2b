/** A scene is steps: what the nodes list, how time passes, and what the custodian then shows. */
import fc from 'fast-check';
import { it } from 'vitest';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { Watched } from '../../../src/custody/recovery/unexplained-spends.ts';
import type { ChainTransaction, TokenRow } from '../../../src/providers/solana-rpc.ts';
import { RESERVE } from '../../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { land } from '../../kit/fake-chain.ts';
import { shownCode } from '../../kit/operator.ts';
import { reserveTransfer, SOL } from '../../kit/sample-operations.ts';
import { msOf, playScenes, playSteps } from '../../kit/scenes.ts';

const THIEF = 'thief';
const [AUTHORITY, SOURCE] = ['multisig of absr', 'source of asry'];

const theft = (over: Partial<ChainTransaction> = {}): ChainTransaction => ({
  ...reserveTransfer('stolen', { slot: 110n }),
  accounts: [RESERVE, THIEF],
  signers: [RESERVE],
  preLamports: [10n * SOL, 0n],
  postLamports: [SOL, 9n * SOL - 5_000n],
  ...over,
});
const row = (account: string, owner: string, atoms: bigint, mint = 'asry'): TokenRow => ({
  ...{ account, mint, owner, atoms },
  program: null,
  decimals: 6,
});
/** Without the reserve's key. */
const unsigned = (over: Partial<ChainTransaction>): ChainTransaction =>
  theft({
    accounts: [THIEF, AUTHORITY],
    signers: [THIEF],
    preLamports: [SOL, 0n],
    postLamports: [SOL, 0n],
    ...over,
  });
const solStays = { postLamports: [10n * SOL, 0n] };
const minted = (mint?: string) => ({ preTokens: [], postTokens: [row('other', THIEF, 7n, mint)] });
const payerIsThief = { accounts: [THIEF, RESERVE], preLamports: [SOL, SOL], postLamports: [2n * SOL, 0n] };
const noTokens = { preTokens: null, postTokens: null };

const SPENDS: Readonly<Record<string, ChainTransaction>> = {
  sol: theft(),
  'sol-of-their-fee': theft({ ...payerIsThief, signers: [THIEF, RESERVE] }),
  asry: theft({
    ...solStays,
    preTokens: [row('own', RESERVE, 50n)],
    postTokens: [row('own', RESERVE, 20n), row('other', THIEF, 30n)],
  }),
  'fee-of-failure': theft({ failed: true, fee: lamports(9n * SOL), postLamports: [SOL, 0n] }),
  mint: theft({ ...solStays, ...minted() }),
  'absr-of-others': unsigned(minted('absr')),
  'asry-of-source': unsigned({
    preTokens: [row(SOURCE, 'cold', 50n), row('other', THIEF, 0n)],
    postTokens: [row(SOURCE, 'cold', 20n), row('other', THIEF, 30n)],
  }),
};
const HARMLESS: Readonly<Record<string, ChainTransaction>> = {
  dust: theft({ signers: [THIEF] }),
  'sol-of-others': theft({ accounts: [THIEF, RESERVE], signers: [THIEF] }),
  'absr-between-others': unsigned({
    preTokens: [row('a', 'b', 7n, 'absr')],
    postTokens: [row('c', 'd', 7n, 'absr')],
  }),
  'asry-to-source': unsigned({ preTokens: [], postTokens: [row(SOURCE, 'cold', 5n)] }),
  'own-fee': theft({ failed: true, fee: lamports(14_000n) }),
};
const FOUND: Readonly<Record<string, ChainTransaction>> = {
  ...SPENDS,
  ...HARMLESS,
  'absr-without-balances': { ...unsigned(minted('absr')), ...noTokens },
  'nothing-without-balances': unsigned(noTokens),
};

const orNone = (texts: readonly unknown[]): string => texts.join(', ') || 'none';

/** A custodian that is checked up to slot 100, before its nodes list the first transaction. */
async function createStage(watched: Watched = { accounts: [AUTHORITY, SOURCE], mint: 'absr' }) {
  const first = createCustodianWorld({ watched });
  let [w, slot, count, code]: [CustodianWorld, bigint, number, string] = [first, 100n, 0, ''];
  w.chain.checkFinality = async () => ({ slot, floor: slot });
  await w.custody.wake();
  const { transaction } = w.swap;
  async function minutes(number: string, slots = '0', dust = '0') {
    for (let minute = 0; minute < Number(number); minute++) {
      for (let sent = 0; sent < Number(dust); sent++)
        list('dust', `dust-${++count}`, 110n + BigInt(2 * count));
      slot += BigInt(slots);
      w.clock.now += 60_000;
      await w.custody.wake();
    }
  }
  function list(what: string, signature: string, at: bigint): ChainTransaction {
    const found = FOUND[what];
    if (!found) throw new Error(`no transaction ${what}`);
    w.swap.listed.unshift({ signature, slot: at, err: null, blockTime: found.blockTime });
    const landed = { ...found, signature, slot: at };
    w.swap.transactions.set(signature, landed);
    return landed;
  }
  async function unfreeze(id: string) {
    const { ok, message, rows = [] } = await w.custody.ops({ name: 'unfreeze', ...(id && { id }) });
    code = id || shownCode(message);
    const shown = rows.map(({ signature, moved }) =>
      String(moved).includes('5000000000 lamports') ? 'debit' : signature,
    );
    return [ok ? 'ok' : 'refused', ...shown].join(' ');
  }
  const report = () => w.custody.report();
  return {
    /** It is listed, a quorum shows it, and its slot is final. @param words `as NAME`, `at SLOT`, `ahead` of what is final, `xCOUNT`, `unshown` */
    lands(what: string, ...words: string[]) {
      const after = (word: string) => (words.includes(word) ? words[words.indexOf(word) + 1] : undefined);
      const copies = Number(words.find((word) => /^x\d+$/.test(word))?.slice(1) ?? 1);
      for (let copy = 0; copy < copies; copy++) {
        const name = copies > 1 ? `${what}-${++count}` : (after('as') ?? 'stolen');
        const landed = list(what, name, BigInt(after('at') ?? 110));
        if (!words.includes('ahead')) slot = landed.slot + 1n;
        if (words.includes('unshown')) w.swap.transactions.delete(name);
      }
    },
    /** A quorum shows it from now on. */
    show: (what: string) => void w.swap.transactions.set('stolen', FOUND[what] ?? theft()),
    form(known: string) {
      const unknown = () => Promise.reject(upstreamFailed('rpc', 'rpc_-32015'));
      w.swap.transaction = known === 'known' ? transaction : unknown;
    },
    wake: () => w.custody.wake(),
    /** A wake after each minute, in which this many slots become final and others land this many transactions. */
    minutes,
    wait: (length: string) => Object.assign(w.clock, { now: w.clock.now + msOf(length) }),
    pass: (length: string) => w.pass(msOf(length)),
    swap: (name: string) => w.custody.createSwap(keyed(name)),
    /** The transaction of the newest swap takes 5 SOL, more than the swap reserves. */
    debit() {
      land(w.chain, { debit: lamports(5n * SOL) });
      slot += 1_000n;
    },
    /** Another instance, with the same key or a new one. */
    restart() {
      w = { ...w, custody: w.start() };
    },
    rotate() {
      const signer = { address: 'new reserve', sign: async () => new Uint8Array(64) };
      w = createCustodianWorld({ signer }, w.storage);
    },
    /** Types the command without a code, then with the code that it showed last. */
    ask: () => unfreeze(''),
    confirm: () => unfreeze(code),
    resume: () => w.custody.ops({ name: 'resume' }),
    frozen: async () => (await report()).frozen,
    paused: async () => (await report()).paused,
    spends: async () => orNone((await report()).unexplainedSpends.map(({ signature }) => signature)),
    signed: async () =>
      orNone((await report()).unexplainedSpends.map(({ signedByReserve }) => signedByReserve)),
    moved: async () =>
      orNone(
        (await report()).unexplainedSpends.flatMap(({ moved }) =>
          moved.map(({ mint, atoms, receiver }) => `${atoms} ${mint ?? 'lamports'} to ${receiver}`),
        ),
      ),
    failing: async () =>
      orNone(
        (await w.custody.operatorView()).failing.map(
          ({ work, id, failures }) => `${work} ${id} x${failures}`,
        ),
      ),
    recent: async () => orNone((await w.custody.operatorView()).recent.map(({ event }) => event)),
    logged: (event: string) => first.logged.includes(event),
  };
}

playScenes(`
  signing freezes in the first wake after SOL leaves without a row
    | lands sol; wake; frozen = unexplained_spend; spends = stolen; moved = 9000000000 lamports to thief
  signing freezes after SOL leaves without a row while the thief pays the fee
    | lands sol-of-their-fee; wake; frozen = unexplained_spend; moved = 1000000000 lamports to thief
  signing freezes after ASRY leaves without a row
    | lands asry; wake; frozen = unexplained_spend; moved = 30 asry to thief
  signing freezes after SOL leaves as the fee of a failure without a row
    | lands fee-of-failure; wake; frozen = unexplained_spend; moved = 9000000000 lamports to null
  signing freezes after the reserve has minted tokens without a row
    | lands mint; wake; frozen = unexplained_spend; moved = 7 asry to thief
  signing freezes after other signers of the mint authority have minted ABSR
    | lands absr-of-others; wake; frozen = unexplained_spend; moved = 7 absr to thief
  signing freezes after the owner or a delegate of the account that pays ASRY takes some
    | lands asry-of-source; wake; frozen = unexplained_spend; moved = 30 asry to thief
  a listed transaction that no quorum shows freezes nothing
    | lands sol unshown; wake; minutes 1 5000; frozen = null
  a listed transaction that the reserve did not sign freezes nothing
    | lands sol-of-others; wake; minutes 1 5000; frozen = null
  a listed transaction that moves ABSR of others freezes nothing
    | lands absr-between-others; wake; minutes 1 5000; frozen = null
  a listed transaction that adds ASRY freezes nothing
    | lands asry-to-source; wake; minutes 1 5000; frozen = null
  a listed transaction that failed for a fee like ours freezes nothing
    | lands own-fee; wake; minutes 1 5000; frozen = null
  a transaction that no quorum shows is failing work, and freezes signing when a quorum shows it at last
    | lands sol unshown; wake; minutes 11 300; failing = spend 110 stolen x12; show sol; wake; frozen = unexplained_spend; failing = none
  a transaction whose form this release does not read is failing work, and freezes signing when it is read at last
    | lands sol; form unknown; wake; minutes 11 300; failing = spend 110 stolen x12; form known; wake; frozen = unexplained_spend; failing = none
  a transaction whose token balances no quorum shows is read until a quorum shows them
    | lands absr-without-balances; wake; minutes 11 300; failing = spend 110 stolen x12; show absr-of-others; wake; frozen = unexplained_spend
  a theft freezes signing when a quorum shows it after more invented transactions than can wait
    | lands dust x30 unshown; lands sol at 111 unshown; wake; minutes 4 150; show sol; wake; frozen = unexplained_spend
  a spend behind 500 dust transactions of one slot freezes signing within ten minutes
    | lands dust x500; lands sol at 111; wake; minutes 9 150; frozen = unexplained_spend; logged spends_unread = false
  a theft freezes signing within ten minutes while two lists are flooded with as many entries
    | lands dust x300; lands sol; lands dust x180; wake; minutes 9 150; frozen = unexplained_spend
  600 dust transactions raise an alarm for two hours, because one of them may be a spend, and the check goes on
    | lands dust x600; lands sol at 111; wake; minutes 11 150; logged work_failed = false; recent = spends_unread; wait 2h; recent = none
  20,000 dust transactions raise an alarm for two hours, because one of them may be a spend, and the check goes on
    | lands dust x20000; lands sol at 111; wake; minutes 11 150; logged work_failed = false; recent = spends_unread; wait 2h; recent = none
  the command unfreeze shows the spends that it acknowledges, and its code does not confirm a spend that is found later
    | lands sol; wake; ask = ok stolen; lands sol as second at 120; wake; confirm = refused stolen second; frozen = unexplained_spend; ask; confirm = ok; frozen = null
  an acknowledged spend does not freeze signing again, but the next unexplained spend does
    | lands sol; wake; ask; confirm; wake; frozen = null; paused = operator; spends = none; lands sol as second at 120; wake; spends = second
  the code of an unexpected debit does not confirm a later debit
    | swap a; debit; pass 2m; ask = ok debit; confirm = ok; resume; swap b; debit; pass 2m; confirm = refused debit; frozen = unexpected_debit
  an unexpected debit during a freeze hides no found spend, and a change of the key does not end it
    | swap a; lands sol; wake; ask; debit; pass 2m; frozen = unexplained_spend; spends = stolen; confirm = refused debit stolen; rotate; wake; frozen = unexplained_spend; ask; confirm; frozen = null
  a freeze by a spend of a delegate stays after a change of the reserve's key, until the operator ends it
    | lands sol; lands asry-of-source as other at 111; wake; rotate; wake; wake; frozen = unexplained_spend; signed = true, false; ask; confirm; frozen = null
  a freeze by a mint of other signers stays after a change of the reserve's key, until the operator ends it
    | lands sol; lands absr-of-others as other at 111; wake; rotate; wake; wake; frozen = unexplained_spend; signed = true, false; ask; confirm; frozen = null
  a freeze by spends of an earlier key ends when the key changes, and signing waits for the operator
    | lands sol; wake; restart; frozen = unexplained_spend; rotate; frozen = null; paused = operator; spends = none
`)(createStage);

playScenes(`
  a transaction without token balances does not wait if no tokens are watched
    | lands nothing-without-balances; wake; minutes 3; failing = none
  a theft after 900 transactions of strangers in 45 minutes freezes signing if the finalized slot advances
    | minutes 45 40 20; lands sol at 1911 ahead; minutes 60 40; frozen = unexplained_spend; logged spends_unread = false
  a theft after 900 transactions of strangers raises an alarm if the nodes of a quorum show one slot for an hour
    | minutes 45 0 20; lands sol at 1911 ahead; minutes 60; frozen = null; logged spends_unread = true
`)(() => createStage({ accounts: [] }));

it('harmless transactions freeze nothing in any order, and a spend among them always freezes signing', async () => {
  const names = fc.subarray(Object.keys(HARMLESS));
  await fc.assert(
    fc.asyncProperty(
      names,
      names,
      fc.option(fc.constantFrom(...Object.keys(SPENDS)), { nil: undefined }),
      async (before, after, spend) => {
        const lands = [...before, ...(spend ? [spend] : []), ...after].map(
          (what, at) => `lands ${what} as n${at}`,
        );
        const end = spend ? `unexplained_spend; spends = n${before.length}` : 'null; spends = none';
        await playSteps(
          [...lands, 'wake', 'minutes 1 150', `frozen = ${end}`].join('; '),
          await createStage(),
        );
      },
    ),
    { numRuns: 40 },
  );
});
