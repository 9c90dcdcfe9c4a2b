/** Each check at its exact limit: the last accepted value, and the first refused one. */
import { concatBytes } from '@noble/hashes/utils.js';
import { describe, expect, it } from 'vitest';
import {
  NATIVE_VAULT,
  SWAP_ENDPOINT_PROGRAM,
  vaultSwapAccounts,
} from '../../../src/bridges/lifi-chainflip.ts';
import type { DecodedTransaction } from '../../../src/chain/solana/message.ts';
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports, sats } from '../../../src/core/amount.ts';
import { type ApprovedShape, LIFI_COLLECTOR } from '../../../src/custody/policy/instructions.ts';
import { checkBytes, checkSwapPolicy } from '../../../src/custody/policy/policy.ts';
import {
  CLOCK_SYSVAR,
  judgeAssociatedToken,
  judgeComputeBudget,
  judgeSystem,
  judgeToken,
  judgeTracker,
  priorityFee,
  SYSTEM_PROGRAM,
  trackerAccount,
  WRAPPED_SOL,
} from '../../../src/custody/policy/programs.ts';
import {
  type Judgement,
  LOOKUP_TABLE_PROGRAM,
  type ResolvedKey,
  resolveInstructions,
} from '../../../src/custody/policy/resolved-instructions.ts';
import {
  type AccountState,
  checkLanding,
  checkSimulation,
  type SimulationResult,
} from '../../../src/custody/policy/simulation.ts';
import { checkQuote, overheadOf } from '../../../src/custody/policy/terms.ts';
import { budget, tableData, u32, u64 } from '../../world/lifi-transaction.ts';
import { type Draft, draftSwap, finish, OWN, RESERVE, THIEF, transfer, vaultSwap, wallet } from './draft.ts';
import { LEG, TEMPORARY } from './families/family.ts';

const key = (address: string, isWritable = true, isSigner = false): ResolvedKey => ({
  address,
  isWritable,
  isSigner,
});
const us = key(RESERVE, true, true);
const them = key(THIEF);
const outcomeOf = (verdict: Judgement) =>
  verdict.ok ? [verdict.effect, verdict.reserveAt, verdict.reserveInData] : verdict.reason;
const bytes = (...parts: readonly (Uint8Array | number)[]) =>
  concatBytes(...parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : part)));

describe('a System transfer', () => {
  const send = (data: Uint8Array, accounts = [us, them]) =>
    outcomeOf(judgeSystem({ program: SYSTEM_PROGRAM, accounts, data }, RESERVE));
  const one = bytes(u32(2), u64(1n));

  it('of one lamport has its amount, its receiver, and our key only as the payer', () => {
    expect(send(one)).toEqual([{ kind: 'transfer', to: THIEF, lamports: 1n }, [0], 0]);
  });

  it.each([
    ['of nothing', bytes(u32(2), u64(0n)), undefined],
    ['one byte short', one.slice(0, 11), undefined],
    ['one byte long', bytes(one, 0), undefined],
    ['without an amount', u32(2), undefined],
    ['without a whole discriminator', Uint8Array.of(2, 0, 0), undefined],
    ['without a receiver', one, [us]],
    ['with a third account', one, [us, them, them]],
    ['to an account that the message keeps read-only', one, [us, key(THIEF, false)]],
  ])('%s is malformed', (_name, data, accounts) => {
    expect(send(data, accounts)).toBe('system_malformed');
  });

  it.each([
    [0, 'system_create_account'],
    [1, 'system_owner_change'],
    [3, 'system_create_account'],
    [4, 'nonce_instruction'],
    [5, 'nonce_instruction'],
    [6, 'nonce_instruction'],
    [7, 'nonce_instruction'],
    [8, 'system_allocate'],
    [9, 'system_allocate'],
    [10, 'system_owner_change'],
    [11, 'system_seed_transfer'],
    [12, 'nonce_instruction'],
    [13, 'system_create_account'],
    [14, 'system_unknown'],
  ])('discriminator %i, bare, is refused for what it does', (discriminator, reason) => {
    expect(send(u32(discriminator))).toBe(reason);
  });
});

describe('a compute budget', () => {
  const set = (data: Uint8Array, accounts: ResolvedKey[] = []) =>
    outcomeOf(judgeComputeBudget({ program: '', accounts, data }));

  it.each([
    ['heap', 1, u32(262_144), 262_144n],
    ['units', 2, u32(1_400_000), 1_400_000n],
    ['price', 3, u64(0xffff_ffff_ffff_ffffn), 0xffff_ffff_ffff_ffffn],
    ['size', 4, u32(67_108_864), 67_108_864n],
  ] as const)("allows %s up to the chain's maximum", (field, opcode, value, read) => {
    expect(set(bytes(opcode, value))).toEqual([{ kind: 'budget', field, value: read }, [], 0]);
    expect(set(bytes(opcode, value, 0))).toBe('compute_malformed');
    expect(set(bytes(opcode, value.slice(1)))).toBe('compute_malformed');
    expect(set(bytes(opcode, value), [us])).toBe('compute_malformed');
    if (opcode !== 3) expect(set(bytes(opcode, u32(Number(read) + 1)))).toBe('compute_range');
  });

  it.each([0, 5, 255])('refuses setting %i', (opcode) => {
    expect(set(bytes(opcode, u32(0)))).toBe('compute_unknown');
  });

  const cost = (...settings: ['heap' | 'units' | 'price' | 'size', bigint][]) =>
    priorityFee(settings.map(([field, value]) => ({ kind: 'budget', field, value })));

  it('costs every begun lamport, for the maximum units without a setting', () => {
    expect(cost()).toBe(0n);
    expect(cost(['units', 1_000_000n])).toBe(0n);
    expect(cost(['price', 1n])).toBe(2n);
    expect(cost(['price', 1n], ['units', 1n])).toBe(1n);
    expect(cost(['price', 1n], ['units', 1_000_000n])).toBe(1n);
    expect(cost(['price', 1n], ['units', 1_000_001n])).toBe(2n);
    expect(cost(['price', 7n], ['units', 0n])).toBe(0n);
    expect(cost(['heap', 9n], ['size', 9n])).toBe(0n);
  });

  it('that sets a value twice has no defined cost', () => {
    expect(cost(['price', 1n], ['price', 1n])).toBeUndefined();
  });
});

describe('a token instruction', () => {
  const own = key(TEMPORARY);
  const judged = (data: Uint8Array, accounts: ResolvedKey[], program: string = TOKEN_PROGRAM) =>
    outcomeOf(judgeToken({ program, accounts, data }, RESERVE));
  const shapes = [
    ['a transfer', bytes(3, u64(1n)), [own, them, us], [2]],
    ['a checked transfer', bytes(12, u64(1n), 9), [own, key(WRAPPED_SOL), them, us], [3]],
    ['a close', bytes(9), [own, us, us], [1, 2]],
    ['a sync', bytes(17), [own], []],
  ] as const;

  it.each(shapes)(
    '%s of our own wrapped SOL may be, in exactly its shape',
    (_name, data, accounts, places) => {
      expect(judged(data, [...accounts])).toEqual([{ kind: 'wrapped' }, places, 0]);
      expect(judged(bytes(data, 0), [...accounts])).toBe('token_malformed');
      if (data.length > 1) expect(judged(data.slice(0, -1), [...accounts])).toBe('token_malformed');
      expect(judged(data, [...accounts, us])).toBe('token_malformed');
      expect(judged(data, accounts.slice(0, -1))).toBe('token_malformed');
      expect(judged(data, [...accounts], TOKEN_2022_PROGRAM)).toBe('token_not_own_wsol');
      expect(judged(data, [them, ...accounts.slice(1)])).toBe('token_not_own_wsol');
    },
  );

  it('closes to us alone, while a transfer may go where the route pays', () => {
    expect(judged(bytes(9), [own, them, us])).toBe('token_close_destination');
  });

  it('without a byte is unknown', () => {
    expect(judged(new Uint8Array(), [own])).toBe('token_unknown');
  });

  /** Opcodes of both interfaces in their order; null where the table above has one that may be. */
  const OPCODES = [
    ...['initialize', 'initialize', 'initialize', null, 'delegate', 'delegate', 'authority', 'mint', 'burn'],
    ...[null, 'freeze', 'freeze', null, 'delegate', 'mint', 'burn', 'initialize', null],
    ...['initialize', 'initialize', 'initialize', 'query', 'initialize', 'query', 'query'],
    ...['extension', 'extension', 'extension', 'extension', 'reallocate', 'extension', 'extension'],
    ...['extension', 'extension', 'extension', 'extension', 'extension', 'extension', 'lamports'],
    ...[
      'extension',
      'extension',
      'extension',
      'extension',
      'extension',
      'extension',
      'lamports',
      'extension',
    ],
  ];

  it.each(Array.from({ length: 256 }, (_, opcode) => opcode))(
    'opcode %i is refused for what it does',
    (opcode) => {
      const name = opcode === 255 ? 'batch' : opcode < OPCODES.length ? OPCODES[opcode] : 'unknown';
      if (name !== null) expect(judged(bytes(opcode), [own])).toBe(`token_${name}`);
    },
  );
});

describe('an associated account', () => {
  const six = [us, key(TEMPORARY), us, key(WRAPPED_SOL), key(SYSTEM_PROGRAM), key(TOKEN_PROGRAM)];
  const made = (data: Uint8Array, accounts = six) =>
    outcomeOf(judgeAssociatedToken({ program: '', accounts, data }, RESERVE));
  const except = (place: number, other = them) => six.map((one, index) => (index === place ? other : one));

  it.each([[[]], [[0]], [[1]]])('of our own wrapped SOL may be opened, with data %j', (data) => {
    expect(made(Uint8Array.from(data))).toEqual([{ kind: 'wrapped' }, [0, 2], 0]);
  });

  it.each([
    [[2], six, 'ata_recover'],
    [[3], six, 'ata_unknown'],
    [[1, 0], six, 'ata_malformed'],
    [[1], six.slice(0, 5), 'ata_malformed'],
    [[1], [...six, them], 'ata_malformed'],
    [[1], except(0), 'ata_owner'],
    [[1], except(1), 'ata_account'],
    [[1], except(2), 'ata_owner'],
    [[1], except(3), 'ata_account'],
    [[1], except(4), 'ata_account'],
    [[1], except(5, key(TOKEN_2022_PROGRAM)), 'ata_account'],
  ] as const)('%j is refused where anything about it is not ours', (data, accounts, reason) => {
    expect(made(Uint8Array.from(data), [...accounts])).toBe(reason);
  });
});

describe("LI.FI's tracker", () => {
  const id = [1, 2, 3, 4, 5, 6, 7, 8];
  const note = (p: { data?: number[]; accounts?: string[]; transactionId?: string; epoch?: bigint } = {}) => {
    const { epoch = 9n, transactionId = '0x0102030405060708' } = p;
    const accounts = (p.accounts ?? [CLOCK_SYSVAR, trackerAccount(9n)]).map((address) => key(address, false));
    const data = Uint8Array.from(p.data ?? [0, ...id]);
    return outcomeOf(judgeTracker({ program: '', accounts, data }, { transactionId, epoch }));
  };
  const allowed = [{ kind: 'tracker' }, [], 0];

  it('records our own quote, in the account of this epoch or the last', () => {
    expect(note()).toEqual(allowed);
    expect(note({ epoch: 10n })).toEqual(allowed);
    expect(note({ epoch: 0n, accounts: [CLOCK_SYSVAR, trackerAccount(0n)] })).toEqual(allowed);
    expect(note({ epoch: 1n, accounts: [CLOCK_SYSVAR, trackerAccount(0n)] })).toEqual(allowed);
  });

  it.each([
    ['the next epoch', { epoch: 8n }, 'tracker_account'],
    ['an epoch long gone', { epoch: 11n }, 'tracker_account'],
    [
      'the epoch before the first',
      { epoch: 0n, accounts: [CLOCK_SYSVAR, trackerAccount(0xffff_ffff_ffff_ffffn)] },
      'tracker_account',
    ],
    ['another clock', { accounts: [THIEF, trackerAccount(9n)] }, 'tracker_account'],
    ['no account', { accounts: [CLOCK_SYSVAR] }, 'tracker_malformed'],
    ['an account more', { accounts: [CLOCK_SYSVAR, trackerAccount(9n), THIEF] }, 'tracker_malformed'],
    ['a byte less', { data: [0, ...id.slice(1)] }, 'tracker_malformed'],
    ['a byte more', { data: [0, ...id, 0] }, 'tracker_malformed'],
    ['another opcode', { data: [1, ...id] }, 'tracker_malformed'],
    ['a first byte of another quote', { data: [0, 9, ...id.slice(1)] }, 'tracker_id'],
    ['a last byte of another quote', { data: [0, ...id.slice(0, 7), 9] }, 'tracker_id'],
    ['a quote whose id is too short to tell', { transactionId: '0x01020304050607' }, 'tracker_id'],
  ])('is refused with %s', (_name, change, reason) => {
    expect(note(change)).toBe(reason);
  });
});

describe('lookup tables', () => {
  const TABLE = wallet(90);
  const entries = [wallet(91), wallet(92), wallet(93)];
  const view = (list = entries) => ({ owner: LOOKUP_TABLE_PROGRAM, data: tableData(list) });
  const transaction = (change: Partial<DecodedTransaction> = {}): DecodedTransaction => ({
    version: 0,
    signatures: [],
    requiredSignatures: 3,
    readonlySigned: 1,
    readonlyUnsigned: 1,
    keys: [1, 2, 3, 4, 5, 6].map((n) => wallet(n)),
    blockhash: wallet(99),
    instructions: [{ program: 5, accounts: [0, 6, 7, 8], data: new Uint8Array(1) }],
    tables: [{ table: TABLE, writable: [2], readonly: [0, 1] }],
    ...change,
  });
  const resolve = (views: ReturnType<typeof view>[] | (ReturnType<typeof view> | null)[], change = {}) => {
    const found = resolveInstructions(transaction(change), new Map([[TABLE, views]]));
    return found.ok ? found : found.reason;
  };

  it('give each key its rights: writable ones before read-only ones, behind the keys of the message', () => {
    const keys = [
      key(wallet(1), true, true),
      key(wallet(2), true, true),
      key(wallet(3), false, true),
      key(wallet(4), true),
      key(wallet(5), true),
      key(wallet(6), false),
      key(wallet(93), true),
      key(wallet(91), false),
      key(wallet(92), false),
    ];
    expect(resolve([view(), view()])).toEqual({
      ok: true,
      keys,
      instructions: [
        { program: wallet(6), accounts: [keys[0], keys[6], keys[7], keys[8]], data: new Uint8Array(1) },
      ],
    });
  });

  it.each([
    ['one node alone', [view()], {}, 'table_unread'],
    ['a node that has none', [view(), null], {}, 'table_unread'],
    ['a first node that has none', [null, view()], {}, 'table_unread'],
    [
      'nodes that differ at the last index',
      [view(), view([wallet(91), THIEF, wallet(93)])],
      {},
      'table_disagreement',
    ],
    [
      'a third node that differs',
      [view(), view(), view([...entries.slice(0, 2), THIEF])],
      {},
      'table_disagreement',
    ],
    [
      'an index after the last',
      [view(), view()],
      { tables: [{ table: TABLE, writable: [3], readonly: [] }] },
      'table_index',
    ],
    [
      'a key that the message has itself',
      [view([wallet(1), ...entries.slice(1)]), view([wallet(1), ...entries.slice(1)])],
      {},
      'key_loaded_twice',
    ],
  ])('are refused with %s', (_name, views, change, reason) => {
    expect(resolve(views, change)).toBe(reason);
  });

  it('that a node sees longer than another agree where it matters', () => {
    expect(resolve([view(), view([...entries, wallet(94)])])).toMatchObject({ ok: true });
  });

  it('do not allow an instruction that points past all keys', () => {
    const instructions = [{ program: 5, accounts: [9], data: new Uint8Array() }];
    expect(() => resolve([view(), view()], { instructions })).toThrow('no key 9');
  });
});

describe('a quote', () => {
  const at = (ageMs: number, change: (draft: Draft) => void = () => undefined, floor?: bigint) => {
    const draft = draftSwap('near', 3);
    change(draft);
    const { quote, order, terms } = finish(draft);
    const floorSats = floor === undefined ? order.floorSats : sats(floor);
    const verdict = checkQuote(quote, { ...order, floorSats }, terms, ageMs);
    return verdict.ok ? verdict.tool : verdict.reason;
  };

  it.each([
    [0, 'near'],
    [60_000, 'near'],
    [60_001, 'quote_stale'],
    [-1, 'quote_stale'],
    [Number.NaN, 'quote_stale'],
  ])('is valid for a minute (%d ms old: %s)', (ageMs, outcome) => {
    expect(at(ageMs)).toBe(outcome);
  });

  it('pays at least the sum that our own price requires, to the satoshi', () => {
    const minimum = BigInt(draftSwap('near', 3).quote.estimate.toAmountMin);
    expect(at(0, undefined, minimum)).toBe('near');
    expect(at(0, undefined, minimum + 1n)).toBe('quote_minimum');
  });
});

describe('the sums over all instructions', () => {
  const approved = (change: (draft: Draft) => void, tool: Draft['tool'] = 'near') => {
    const draft = draftSwap(tool, 5);
    draft.inTable = [];
    change(draft);
    const verdict = checkBytes(finish(draft));
    return verdict.ok ? verdict : verdict.reason;
  };
  const priced = (price: bigint) => (draft: Draft) => {
    draft.instructions.splice(0, 2, budget(2, u32(1_000_000)), budget(3, u64(price)));
  };

  it.each([
    ['the maximum that we allow', 500_000n, 505_000n],
    ['nothing', 0n, 5_000n],
  ])('predict the fee of a transaction whose priority costs %s', (_name, price, networkFee) => {
    expect(approved(priced(price))).toMatchObject({ shape: { networkFee, legAt: LEG } });
  });

  it('refuse one lamport more for priority', () => {
    expect(approved(priced(500_001n))).toBe('compute_price');
  });

  it.each([
    ['half a percent', 0n, undefined],
    ['a lamport more than that', 1n, 'fee_over_cap'],
  ])("take fees of LI.FI's up to %s", (_name, more, reason) => {
    const verdict = approved((draft) => {
      draft.amount = 1_000_000_000n;
      draft.quote.action.fromAmount = draft.quote.estimate.fromAmount = '1000000000';
      draft.quote.estimate.toAmount = draft.quote.estimate.toAmountMin = '120000';
      for (const cost of draft.quote.estimate.feeCosts ?? []) cost.amount = '2500000';
      const fee = 5_000_000n + more;
      draft.instructions[3] = transfer(LIFI_COLLECTOR, fee);
      draft.instructions[LEG] = transfer(draft.deposit, draft.amount - fee);
    });
    if (reason) expect(verdict).toBe(reason);
    else expect(verdict).toMatchObject({ ok: true, minimumSats: 120_000n });
  });

  it.each([-1n, 1n])('are the amount, not %d lamport more', (off) => {
    const total = (draft: Draft) => {
      draft.instructions[LEG] = transfer(draft.deposit, draft.amount - draft.fee + off);
    };
    expect(approved(total)).toBe('payment_total');
  });

  it('require exactly one tracker instruction', () => {
    expect(approved((draft) => draft.instructions.splice(2, 1))).toBe('tracker_count');
    const twice = (draft: Draft) => draft.instructions.push(...draft.instructions.slice(2, 3));
    expect(approved(twice)).toBe('tracker_count');
  });

  it('require exactly one payment of the route', () => {
    expect(approved((draft) => draft.instructions.splice(3, 2))).toBe('payment_missing');
    const inTwo = (draft: Draft) => draft.instructions.push(transfer(draft.deposit, 1n));
    expect(approved(inTwo)).toBe('payment_count');
    const plain = (draft: Draft) => {
      draft.instructions[LEG] = transfer(THIEF, draft.amount - draft.fee);
    };
    expect(approved(plain, 'chainflip')).toBe('payment_missing');
  });

  it('name the index of the refused instruction', () => {
    const draft = draftSwap('near', 5);
    draft.instructions.splice(3, 0, { program: THIEF, accounts: [], data: new Uint8Array() });
    expect(checkBytes(finish(draft))).toMatchObject({ reason: 'program_unknown', instruction: 3 });
  });

  it.each([
    [{ recorded: 9n, current: 9n }, undefined],
    [{ recorded: null, current: 9n }, undefined],
    [{ recorded: 9n, current: 10n }, 'program_redeployed'],
    [{ recorded: 9n, current: null }, 'program_deploy_unread'],
    [{ recorded: null, current: null }, 'program_deploy_unread'],
    [undefined, 'program_deploy_unread'],
  ])('run only programs with the expected deployment (%o: %s)', (deployment, reason) => {
    const verdict = approved((draft) => {
      if (deployment) draft.deployments.set(SWAP_ENDPOINT_PROGRAM, deployment);
      else draft.deployments.delete(SWAP_ENDPOINT_PROGRAM);
    }, 'chainflip');
    if (reason) expect(verdict).toBe(reason);
    else expect(verdict).toMatchObject({ ok: true });
  });

  it.each([
    ['a token account of ours', addressSeed(OWN[0] ?? '')],
    ['our own, which already occurs once', addressSeed(RESERVE)],
  ])('find a key in the last bytes of an order as well: %s', (_name, seed) => {
    const seeded = (draft: Draft) => {
      const minimum = BigInt(draft.quote.estimate.toAmountMin);
      draft.instructions[LEG] = vaultSwap({ amount: draft.amount - draft.fee, minimum, seed });
    };
    expect(approved(seeded, 'chainflip')).toBe('own_key_in_data');
  });

  it('refuse our key in every position that does not need it', () => {
    const toOurselves = (draft: Draft) => {
      draft.instructions[LEG] = transfer(RESERVE, draft.amount - draft.fee);
    };
    expect(approved(toOurselves)).toBe('reserve_mentioned');
  });
});

const FEES = 7_000n;
const AMOUNT = 1_000_000_000n;
const PAID = 990_000_000n;
const BEFORE = 5_000_000_000n;
const LIMITS = finish(draftSwap('near', 1)).terms.limits;

const state = (atoms: bigint, change: Partial<AccountState> = {}): AccountState => ({
  owner: SYSTEM_PROGRAM,
  lamports: atoms,
  data: new Uint8Array(),
  ...change,
});
type Pair = { before: AccountState | null; after: AccountState | null };

function simulated(
  shape: Pick<ApprovedShape, 'leg' | 'legAt'>,
  p: {
    spent?: bigint;
    before?: bigint;
    reserve?: Partial<Pair>;
    own?: Pair;
    inner?: SimulationResult['inner'];
  },
) {
  const before = p.before ?? BEFORE;
  const pair = { before: state(before), after: state(before - (p.spent ?? AMOUNT + FEES)), ...p.reserve };
  const own = p.own ?? { before: state(9n), after: state(9n) };
  const result = {
    error: null,
    accounts: new Map<string, Pair>([[RESERVE, pair], ...OWN.map((address) => [address, own] as const)]),
    inner: p.inner ?? [],
  };
  const terms = { reserveAddress: RESERVE, bitcoinAddress: '', ownAccounts: OWN, limits: LIMITS };
  const verdict = checkSimulation(result, { ...shape, networkFee: FEES }, lamports(AMOUNT), terms);
  return verdict.ok ? verdict.spend : verdict.reason;
}

describe('a simulation of a plain transfer', () => {
  const leg = { leg: { kind: 'transfer', to: THIEF, lamports: PAID }, legAt: LEG } as const;
  const look = (p: Parameters<typeof simulated>[1]) => simulated(leg, p);

  it('may cost the amount and the fee, to the lamport, and no less than the amount', () => {
    expect(look({})).toBe(AMOUNT + FEES);
    expect(look({ spent: AMOUNT + FEES + 1n })).toBe('reserve_overspent');
    // The bound is the highest possible cost of the bytes, even if the simulation took less.
    expect(look({ spent: AMOUNT })).toBe(AMOUNT + FEES);
    expect(look({ spent: AMOUNT - 1n })).toBe('reserve_underspent');
  });

  it('leaves the reserve its floor, to the lamport', () => {
    const least = AMOUNT + FEES + LIMITS.floor;
    expect(look({ before: least })).toBe(AMOUNT + FEES);
    expect(look({ before: least - 1n })).toBe('balance_floor');
  });

  it('leaves the reserve a plain wallet', () => {
    const after = BEFORE - AMOUNT - FEES;
    expect(look({ reserve: { after: state(after, { data: new Uint8Array(1) }) } })).toBe(
      'reserve_data_changed',
    );
    expect(look({ reserve: { after: state(after, { owner: THIEF }) } })).toBe('reserve_owner_changed');
    expect(look({ reserve: { before: null } })).toBe('simulation_incomplete');
    expect(look({ reserve: { after: null } })).toBe('simulation_incomplete');
  });

  const data = Uint8Array.of(1, 2);
  const full = state(9n, { data });
  it.each([
    ['a missing account stays missing', null, null, AMOUNT + FEES],
    ['an account stays as it is', full, state(9n, { data: data.slice() }), AMOUNT + FEES],
    ['an account appears', null, full, 'own_account_changed'],
    ['an account goes', full, null, 'own_account_changed'],
    ['data are longer', full, state(9n, { data: bytes(data, 0) }), 'own_account_changed'],
    ['data are shorter', full, state(9n, { data: data.slice(0, 1) }), 'own_account_changed'],
    ['one byte differs', full, state(9n, { data: data.with(1, 3) }), 'own_account_changed'],
    ['a lamport goes', full, state(8n, { data }), 'own_account_changed'],
    ['a lamport comes', full, state(10n, { data }), 'own_account_changed'],
    ['the owner differs', full, state(9n, { data, owner: THIEF }), 'own_account_changed'],
  ])('of our other accounts: %s', (_name, before, after, outcome) => {
    expect(look({ own: { before, after } })).toBe(outcome);
  });

  it('calls nothing', () => {
    const call = { program: SYSTEM_PROGRAM, accounts: [us, key(NATIVE_VAULT)], data: bytes(u32(2), u64(0n)) };
    expect(look({ inner: [{ instruction: LEG, call }] })).toBe('inner_not_allowed');
  });
});

describe('a simulation of a vault swap', () => {
  const seed = new Uint8Array(32).fill(5);
  const accounts = vaultSwapAccounts(RESERVE, seed);
  const swap = { lamports: PAID, seed } as Extract<ApprovedShape['leg'], { kind: 'vault_swap' }>['swap'];
  const leg = { leg: { kind: 'vault_swap', swap, accounts }, legAt: LEG } as const;
  const event = key(accounts[3] ?? '');
  type Call = SimulationResult['inner'][number]['call'];
  const pay = (atoms: bigint, change: Partial<Call> = {}) => ({
    instruction: LEG,
    call: {
      program: SYSTEM_PROGRAM,
      accounts: [us, key(NATIVE_VAULT)],
      data: bytes(u32(2), u64(atoms)),
      ...change,
    },
  });
  const opened = (rent: bigint) => bytes(u32(0), u64(rent), u64(300n), addressSeed(SWAP_ENDPOINT_PROGRAM));
  const open = (rent: bigint, change: Partial<Call> = {}) => ({
    instruction: LEG,
    call: { program: SYSTEM_PROGRAM, accounts: [us, event], data: opened(rent), ...change },
  });
  const look = (inner: SimulationResult['inner'], spent = AMOUNT + FEES) => simulated(leg, { inner, spent });

  it('pays the vault the ordered sum, and its event account within the cap, to the lamport', () => {
    const spent = AMOUNT + FEES + LIMITS.maxRent;
    expect(look([open(LIMITS.maxRent), pay(PAID)], spent)).toBe(spent);
    expect(look([open(LIMITS.maxRent), pay(PAID)], spent + 1n)).toBe('reserve_overspent');
    expect(look([open(LIMITS.maxRent - 1n), open(1n), pay(PAID - 1n), pay(1n)], spent)).toBe(spent);
    expect(look([open(LIMITS.maxRent + 1n), pay(PAID)], spent)).toBe('inner_rent');
    expect(look([pay(PAID)])).toBe(AMOUNT + FEES);
  });

  it.each([
    ['a lamport less', [pay(PAID - 1n)]],
    ['a lamport more', [pay(PAID + 1n)]],
    ['nothing', []],
    ['rent alone', [open(1n)]],
  ])('is refused when it pays %s', (_name, inner) => {
    expect(look(inner)).toBe('inner_amount');
  });

  const twelve = bytes(u32(2), u64(PAID));
  it.each([
    ['from another instruction', { ...pay(PAID), instruction: LEG - 1 }],
    ['by another program', pay(PAID, { program: TOKEN_PROGRAM })],
    ['out of another account', pay(PAID, { accounts: [them, key(NATIVE_VAULT)] })],
    ['to another account', pay(PAID, { accounts: [us, them] })],
    ['with an account more', pay(PAID, { accounts: [us, key(NATIVE_VAULT), them] })],
    ['with no receiver', pay(PAID, { accounts: [us] })],
    ['a byte short', pay(PAID, { data: twelve.slice(0, 11) })],
    ['a byte long', pay(PAID, { data: bytes(twelve, 0) })],
    ['by another call', pay(PAID, { data: bytes(u32(1), u64(PAID)) })],
    ['into the event account', pay(PAID, { accounts: [us, event] })],
    ['opening another account', open(1n, { accounts: [us, them] })],
    ['opening the vault', open(1n, { accounts: [us, key(NATIVE_VAULT)] })],
    ['opening it from another account', open(1n, { accounts: [them, event] })],
    ['opening it, a byte short', open(1n, { data: opened(1n).slice(0, 51) })],
    ['opening it, a byte long', open(1n, { data: bytes(opened(1n), 0) })],
    [
      'opening it for another program',
      open(1n, { data: bytes(u32(0), u64(1n), u64(300n), addressSeed(THIEF)) }),
    ],
    ['by a call without a body', pay(PAID, { data: new Uint8Array() })],
  ])('is refused when it moves something %s', (_name, call) => {
    expect(look([pay(PAID), call])).toBe('inner_not_allowed');
  });
});

describe('a landing', () => {
  it.each([
    [1_000n, undefined],
    [1_010n, undefined],
    [999n, 'landing_balance'],
    [1_011n, 'landing_balance'],
  ])('that cost %d of 1000 to 1010 lamports is checked to the lamport', (spent, reason) => {
    const landing = { error: null, before: 5_000n, after: 5_000n - spent, changesTokens: false };
    expect(checkLanding(landing, { amount: 1_000n, spend: 1_010n })?.reason).toBe(reason);
  });
});

describe('permanently unique names', () => {
  const namesOf = async (draft: Draft) => {
    const verdict = await checkSwapPolicy(finish(draft));
    if (!verdict.ok) throw new Error(verdict.reason);
    return verdict;
  };

  it('is the quote, its message, and the address that is paid', async () => {
    const draft = draftSwap('near', 5);
    const { names, claims, depositAddress } = await namesOf(draft);
    expect(names).toEqual({
      quoteId: '5:0',
      messageHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      vaultSwap: null,
    });
    expect(claims).toEqual(['lifi:5:0', `lifi-message:${names.messageHash}`, `deposit:${draft.deposit}`]);
    expect(depositAddress).toBe(draft.deposit);
  });

  it('is the seed of a vault swap, which pays no deposit address', async () => {
    const draft = draftSwap('chainflip', 5);
    const seed = new Uint8Array(32).fill(0xa5);
    draft.instructions[LEG] = vaultSwap({
      amount: draft.amount - draft.fee,
      minimum: BigInt(draft.quote.estimate.toAmountMin),
      seed,
    });
    for (const { call } of draft.simulation.inner)
      if (call.data.length > 12)
        Object.assign(call.accounts[1] ?? {}, { address: vaultSwapAccounts(RESERVE, seed)[3] });
    const { names, claims, depositAddress } = await namesOf(draft);
    expect(names.vaultSwap).toBe('a5'.repeat(32));
    expect(claims[2]).toBe(`vault-swap:${'a5'.repeat(32)}`);
    expect(depositAddress).toBeNull();
  });

  it('is the message as received, with any blockhash of ours', async () => {
    const draft = draftSwap('near', 5);
    const first = await namesOf(draft);
    draft.blockhash = wallet(77);
    const second = await namesOf(draft);
    expect(second.names.messageHash).not.toBe(first.names.messageHash);
    expect(second.message).toEqual(first.message);
  });
});

it('the overhead of a swap is its signature, the largest priority fee and the largest rent', () => {
  expect(overheadOf({ ...LIMITS, maxPriorityFee: 100n, maxRent: 30n })).toBe(5_130n);
});
