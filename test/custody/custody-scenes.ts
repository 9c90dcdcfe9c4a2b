/** Scenes of a custodian over storage, D1, chain and bridge as steps in text. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import type { SwapRequest } from '../../src/custody/api.ts';
import { birthOf } from '../../src/custody/kernel/birth.ts';
import { Journal } from '../../src/custody/kernel/journal.ts';
import { freeze } from '../../src/custody/kernel/journal-integrity.ts';
import type { Operation } from '../../src/custody/kernel/operation.ts';
import { parseReason, reasonText } from '../../src/custody/kernel/reason.ts';
import type { OpsCommand } from '../../src/custody/operator-api.ts';
import { RESERVE } from '../kit/addresses.ts';
import { type CustodianWorld, createCustodianWorld, keyed, request } from '../kit/custodian.ts';
import { bitcoinTx, credit } from '../kit/fake-bridge.ts';
import { land } from '../kit/fake-chain.ts';
import { shownCode } from '../kit/operator.ts';
import {
  closed,
  done,
  outstanding,
  planned,
  SOL,
  settling,
  signed,
  signingOf,
} from '../kit/sample-operations.ts';
import { msOf, playSteps } from '../kit/scenes.ts';
import { createSqliteStorage, type SqliteStorage } from '../kit/sqlite-storage.ts';

const ROWS = { planned, signed, settling, done, outstanding, closed };
const TXID = 'a'.repeat(64);
const TABLES = ['meta', 'operations', 'once', 'outbox'];

/** Another storage with the same rows, as a point-in-time restore makes it. */
export function copyOf(storage: SqliteStorage): SqliteStorage {
  const copy = createSqliteStorage();
  new Journal(copy);
  for (const table of TABLES) {
    for (const row of storage.exec(`SELECT * FROM ${table}`)) {
      const names = Object.keys(row);
      const marks = names.map(() => '?').join(', ');
      copy.exec(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, ...Object.values(row));
    }
  }
  return copy;
}

/** The bridge delivers 124,375 sats. */
export function deliver(w: CustodianWorld): void {
  w.bridge.nextReport = () => ({ state: 'delivered', txids: [TXID] });
  w.swap.indexes = [() => bitcoinTx(TXID, [{ value: 124_375n }])];
}

/** The instance that the steps call, and its storage. */
function createStage(w: CustodianWorld) {
  let [custody, storage, copy] = [w.custody, w.storage, w.storage];
  const { nextBalance } = w.chain;
  const { nextQuote } = w.bridge;
  let [rows, sent, said, restoredTo] = ['', 0, '', 'none'];
  let row: Operation | undefined;
  let restore = (): void => undefined;
  const shown = () => JSON.stringify([...w.mirror.rows.values()]);
  return {
    /** An operation that an earlier instance has stored. @param change `id=asry:one`, `kind=asry`, `reason=held_unproven`, `due=50m` */
    add(state: keyof typeof ROWS, ...change: string[]) {
      const { due, reason, signing, signedAt, ...texts } = Object.fromEntries(
        change.map((each) => each.split('=')),
      );
      row = w.add(
        ROWS[state]({
          ...texts,
          ...(reason && { reason: parseReason(reason) }),
          ...(signing && { signing: signingOf(signing) }),
          ...(signedAt && { signedAt: w.clock.now }),
          ...(due && { dueAt: w.clock.now + msOf(due) }),
        }),
      );
    },
    end(id: string) {
      const open = w.journal.get(id);
      if (open) w.journal.update(open, { ...open, state: 'done' }, w.clock.now);
    },
    freeze: (why: 'unexplained_spend') => freeze(w.journal, why, () => undefined),
    /** How the platform restores its history; it has none before this step. */
    restores(how: 'work' | 'fail') {
      const before = w.journal.queue.revision();
      w.storage.restore = async (time) => {
        if (how === 'fail') throw new Error('no history');
        restoredTo = `${time - w.clock.now} ms, mark +${(await w.mirror.mark()) - before}`;
      };
    },
    /** Types `restore-storage` with a time relative to now. */
    async restore(length: string) {
      const id = new Date(w.clock.now + msOf(length)).toISOString();
      return (await custody.ops({ name: 'restore-storage', id })).ok ? 'ok' : 'refused';
    },
    'restored-to': () => restoredTo,
    /** @param words `plain` without a key, `client:X`, `lamports:N` */
    async swap(name: string, ...words: string[]) {
      const { client, lamports } = Object.fromEntries(words.map((word) => word.split(':')));
      const change: Partial<SwapRequest> = {
        ...(client && { client }),
        ...(lamports && { amountLamports: BigInt(lamports) }),
      };
      const answer = await custody.createSwap(
        words.includes('plain') ? request(change) : keyed(name, change),
      );
      const again = answer.replayed ? ['again'] : [];
      if (answer.type === 'created') return ['created', ...again].join(' ');
      const { code, message, details, retryAfterSeconds: retry } = answer.refusal;
      said = message;
      const facts = Object.entries({ ...details, retry }).map((fact) => fact.join(':'));
      return [code, ...again, ...facts].join(' ');
    },
    /**
     * How many of as many simultaneous calls make a swap of 0.1 SOL. Each call has a client of its own, unless one client
     * makes all.
     */
    async swaps(count: string, client?: string) {
      const calls = Array.from({ length: Number(count) }, (_, at) =>
        custody.createSwap(request({ amountLamports: 100_000_000n, client: client ?? `client ${at}` })),
      );
      return (await Promise.all(calls)).filter(({ type }) => type === 'created').length;
    },
    land: () => land(w.chain),
    /** Solana makes no more blocks. */
    async halt() {
      const height = await w.chain.height('finalized');
      w.chain.height = async () => height;
    },
    deliver: () => deliver(w),
    fail: () => Object.assign(w.bridge, { nextReport: () => ({ state: 'failed', reason: 'bridge_failed' }) }),
    refuse: (reason?: string) =>
      Object.assign(w.bridge, { nextQuote: reason ? () => ({ ok: false, reason }) : nextQuote }),
    balance: (sum: string) =>
      Object.assign(w.chain, {
        nextBalance:
          sum === 'usual' ? nextBalance : async () => ({ lamports: lamports(BigInt(sum)), slot: 100n }),
      }),
    wait: (length: string) => Object.assign(w.clock, { now: w.clock.now + msOf(length) }),
    pass: (length: string, cron?: string) => w.pass(msOf(length), cron === 'cron'),
    until: (name: string, state: string) =>
      w.passUntil(() => w.journal.get(`swap:key-${name}`)?.state === state, custody),
    fire: () => custody.alarm(),
    wake: () => custody.wake(),
    async ticks(count: string) {
      for (let tick = 0; tick < Number(count); tick++) {
        w.clock.now += 3_000;
        await custody.alarm();
      }
    },
    d1: (...state: string[]) => Object.assign(w.mirror, { state: state.join(' ') }),
    remember() {
      restore = w.mirror.remember();
      copy = copyOf(w.storage);
    },
    /** D1 goes back to what it was. */
    'restore-d1': () => restore(),
    /** The storage goes back to what it was, with another instance. */
    'restore-journal'() {
      storage = copy;
      custody = w.start(storage);
    },
    restart() {
      custody = w.start();
    },
    'lose-journal'() {
      storage = createSqliteStorage();
      custody = w.start(storage);
    },
    /** D1 has a higher mark than the journal, as after `restore-storage`. */
    'raise-mark': async () => w.mirror.apply([], (await w.mirror.mark()) + 5, undefined),
    /** D1 has a row that the journal lacks. */
    'add-row': () =>
      w.mirror.apply(
        [{ entity: 'asry_epochs', id: '1', revision: 10_000, columns: { created_at: '', journal: '{}' } }],
        1,
        undefined,
      ),
    /** The reserve has signed a transaction that the journal lacks. */
    'sign-unknown'() {
      credit(w.swap, 'lost', SOL);
      const shown = w.swap.transactions.get('lost');
      if (shown) w.swap.transactions.set('lost', { ...shown, signers: [RESERVE] });
    },
    'lose-alarm': () => Object.assign(w.storage, { alarm: null }),
    async ops(name: OpsCommand['name'], id?: string) {
      const { ok, message } = await custody.ops({ name, ...(id && { id }) });
      said = message;
      return ok ? 'ok' : 'refused';
    },
    /** Types the command with the code that the last one showed. */
    confirm: async (name: OpsCommand['name']) =>
      (await custody.ops({ name, id: shownCode(said) })).ok ? 'ok' : 'refused',
    async list() {
      const { rows: listed = [] } = await custody.ops({ name: 'operations' });
      return listed.map(({ id }) => id).join(', ');
    },
    held: async () => (await custody.report()).heldOperations,
    async awaiting() {
      const { open } = await custody.operatorView();
      return open.flatMap(({ id, awaitsOperator }) => (awaitsOperator ? [id] : [])).join(', ') || 'none';
    },
    row(id = 'swap:one') {
      const { state, reason, dueAt } = w.journal.get(id) ?? {};
      return `${state} ${reasonText(reason ?? null) ?? 'none'}${dueAt === w.clock.now ? ', due' : ''}`;
    },
    sums() {
      const { unsettled, cost, outcome } = w.journal.get('swap:one') ?? {};
      return `${unsettled} unsettled, ${cost} cost, ${outcome?.writtenOffLamports} written off`;
    },
    /** Whether the row that was added last has changed. */
    changed: () => !isDeepStrictEqual(row, w.journal.get(row?.id ?? '')),
    used: async (limit: string) => (await custody.report()).limits.find(({ name }) => name === limit)?.used,
    /** Whether the last command or refusal has this text. */
    said: (...words: string[]) => said.includes(words.join(' ')),
    state: (name: string) => new Journal(storage).get(`swap:key-${name}`)?.state,
    born: () => birthOf(new Journal(storage)) !== undefined,
    empty: () => new Journal(storage).isEmpty(),
    found: async (signature: string) => (await custody.findSwap(signature))?.status,
    frozen: async () => (await custody.report()).frozen,
    signing: async () => (await custody.signingState()).frozen,
    paused: async () => (await custody.report()).paused,
    restored: async () => (await custody.report()).mirrorRestored,
    mirrored(name: string) {
      const row = w.mirror.operation(`swap:key-${name}`);
      const own = w.journal.get(`swap:key-${name}`);
      if (isDeepStrictEqual(row, own)) return 'same';
      // D1 has the checks as of the last change of the state.
      const { dueAt, looks } = own ?? {};
      return row && isDeepStrictEqual({ ...row, dueAt, looks }, own) ? 'same but for checks' : row?.state;
    },
    rows: () => w.mirror.rows.size,
    'refused-rows': async () => (await custody.report()).refusedRows,
    undelivered: async () => (await custody.report()).undeliveredSinceMs,
    /** The rows of D1 against those at the first look. */
    d1rows() {
      rows ||= shown();
      return rows === shown() ? 'same' : 'changed';
    },
    /** Whether more was sent since the last look. */
    sent() {
      const before = sent;
      sent = w.chain.sent.length;
      return sent > before ? 'more' : 'no more';
    },
    signatures: () => w.signatures(),
    quotes: () => w.bridge.quotes.length,
    calls: (purpose: string) => storage.exec('SELECT 1 FROM calls WHERE purpose = ?', purpose).length,
    logged: (event: string) => w.logged.filter((each) => each === event).length,
    next() {
      if (storage.alarm === null) return 'none';
      const left = storage.alarm - w.clock.now;
      return left <= 0 ? 'due' : left < 30_000 ? 'soon' : 'later';
    },
  };
}

/** Plays steps, with `more` verbs. After ` = `, a step has what it returns; of a refused swap, its code and any of its details. */
export async function playCustody(
  steps: string,
  w: CustodianWorld = createCustodianWorld(),
  more: object = {},
): Promise<void> {
  await playSteps(steps, { ...createStage(w), ...more }, (actual, expected, step) => {
    const [code = '', ...facts] = actual.split(' ');
    const outcome = [code, ...facts.filter((fact) => expected.split(' ').includes(fact))].join(' ');
    expect(step.startsWith('swap ') ? outcome : actual, step).toBe(expected);
  });
}
