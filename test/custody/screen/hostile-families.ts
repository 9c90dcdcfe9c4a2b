/**
 * Attacks by family: each changes an honest swap in one way that would cost us something, and names the reason for
 * which the screen must refuse it.
 */
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { SWAP_ENDPOINT_PROGRAM } from '../../../src/bridges/lifi-chainflip.ts';
import type { Tool } from '../../../src/bridges/lifi-quote.ts';
import { addressSeed } from '../../../src/chain/solana/program-address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { ASSOCIATED_TOKEN_PROGRAM } from '../../../src/custody/screen/associated-token.ts';
import { COMPUTE_BUDGET_PROGRAM } from '../../../src/custody/screen/compute-budget.ts';
import { LIFI_COLLECTOR } from '../../../src/custody/screen/instructions.ts';
import { TRACKER_PROGRAM } from '../../../src/custody/screen/lifi-tracker.ts';
import type { ScreenReason } from '../../../src/custody/screen/refusal.ts';
import { SYSTEM_PROGRAM } from '../../../src/custody/screen/system.ts';
import { ownWrappedSol, WRAPPED_SOL } from '../../../src/custody/screen/token.ts';
import { createRandom, type Random } from '../../simulator/random.ts';
import { type Account, budget, type Instruction, u32, u64 } from '../../world/lifi-transaction.ts';
import {
  BITCOIN_ADDRESS,
  type Draft,
  draftSwap,
  OWN,
  RESERVE,
  TABLE,
  THIEF,
  transfer,
  vaultSwap,
  wallet,
} from './draft.ts';

type Reason = ScreenReason | `near_${string}` | `quote_${string}`;
export type Family = {
  readonly name: string;
  readonly reason: Reason;
  readonly tool: Tool;
  readonly change: (draft: Draft, random: Random) => void;
};

const LEG = 4;
const [USDC = '', ABSR_MINT = ''] = OWN;
const TEMPORARY = ownWrappedSol(RESERVE);
const us: Account = { address: RESERVE, isSigner: true, isWritable: true };
const at = (address: string): Account => ({ address, isWritable: true });
const read = (address: string): Account => ({ address });

function leg(draft: Draft): Instruction {
  const found = draft.instructions[LEG];
  if (!found) throw new Error('no leg');
  return found;
}

/** One more instruction, anywhere. */
const also =
  (make: (random: Random, draft: Draft) => Instruction): Family['change'] =>
  (draft, random) => {
    draft.instructions.splice(random.between(0, draft.instructions.length), 0, make(random, draft));
  };

const system = (discriminator: number, accounts: Account[], ...parts: Uint8Array[]): Instruction => ({
  program: SYSTEM_PROGRAM,
  accounts,
  data: concatBytes(u32(discriminator), ...parts),
});
const token = (program: string, data: number[], accounts: Account[]): Instruction => ({
  program,
  accounts,
  data: Uint8Array.from(data),
});
const seed = (text: string) => concatBytes(u64(BigInt(text.length)), new TextEncoder().encode(text));
const amountOf = (random: Random) => u64(BigInt(random.between(1, 1_000_000_000)));

const list: Family[] = [];
const near = (name: string, reason: Reason, change: Family['change']) =>
  list.push({ name, reason, tool: 'near', change });
const chainflip = (name: string, reason: Reason, change: Family['change']) =>
  list.push({ name, reason, tool: 'chainflip', change });
/** Wherever it is tried. */
function both(name: string, reason: Reason, change: Family['change']) {
  near(`${name}, near`, reason, change);
  chainflip(`${name}, chainflip`, reason, change);
}

// S1, S2: the text and its structure
both('a second transaction in a list', 'data_not_one_text', (d) => (d.onData = (text) => [text, text]));
both('a list of one', 'data_not_one_text', (d) => (d.onData = (text) => [text]));
near('text in an object', 'data_not_one_text', (d) => (d.onData = (text) => ({ toString: () => text })));
near('no text', 'data_not_one_text', (d, r) => (d.onData = () => r.pick([0, false, 7n])));
near('white space in the text', 'tx_base64', (d, r) => {
  d.onData = (text) => {
    const place = r.between(0, text.length);
    return text.slice(0, place) + r.pick([' ', '\n', '\t', '\u200b']) + text.slice(place);
  };
});
near('another alphabet', 'tx_base64', (d) => (d.onData = (text) => `${text.slice(0, 4)}-_${text.slice(6)}`));
near('padding too much', 'tx_base64', (d) => (d.onData = (text) => `${text}====`));
near('trailing bytes', 'tx_trailing_bytes', (d, r) => {
  const extra = r.between(1, 9);
  d.onBytes = (bytes) => concatBytes(bytes, new Uint8Array(extra));
});
near(
  'a second transaction behind the first',
  'tx_trailing_bytes',
  (d) => (d.onBytes = (b) => concatBytes(b, b)),
);
near('cut short', 'tx_truncated', (d, r) => {
  const cut = r.between(1, 12);
  d.onBytes = (bytes) => bytes.slice(0, bytes.length - cut);
});
near(
  'longer than a packet',
  'tx_too_long',
  (d) => (d.onBytes = (b) => concatBytes(b, new Uint8Array(1_200))),
);
near('a length in a longer spelling', 'tx_length_prefix', (d) => {
  d.version = 0;
  d.onBytes = (b) => concatBytes(b.slice(0, 69), Uint8Array.of((b[69] ?? 0) | 0x80, 0), b.slice(70));
});
both('a message of version 1', 'tx_version', (d) => {
  d.version = 0;
  d.onBytes = (b) => b.with(65, 0x81);
});
near('a transaction of version 1', 'tx_version', (d) => (d.onBytes = (b) => b.with(0, 0x81)));
near('fewer slots than signers', 'tx_signature_count', (d) => {
  d.onTransaction = (t) => ({ ...t, requiredSignatures: 2 });
});
near('a read-only fee payer', 'tx_header', (d) => (d.onTransaction = (t) => ({ ...t, readonlySigned: 1 })));
near('more read-only keys than keys', 'tx_header', (d) => {
  d.onTransaction = (t) => ({ ...t, readonlyUnsigned: t.keys.length });
});
near('one key twice', 'tx_duplicate_key', (d) => {
  d.onTransaction = (t) => ({ ...t, keys: t.keys.with(-1, t.keys[1] ?? '') });
});
near('an account that is not there', 'tx_account_index', (d, r) => {
  const place = r.between(60, 255);
  d.onTransaction = (t) => ({
    ...t,
    instructions: t.instructions.map((one, index) =>
      index === LEG ? { ...one, accounts: [0, place] } : one,
    ),
  });
});
near('a program that is not there', 'tx_program_index', (d, r) => {
  const program = r.pick([0, 41, 255]);
  d.onTransaction = (t) => ({
    ...t,
    instructions: t.instructions.map((one, index) => (index === LEG ? { ...one, program } : one)),
  });
});

// S3, S4: signers
both('a second signer who holds the transaction back', 'signer_count', (d) => (d.otherSigners = [THIEF]));
near('another fee payer', 'signer_not_reserve', (d) => {
  d.onTransaction = (t) => ({ ...t, keys: t.keys.with(0, THIEF) });
});
both('a filled signature slot', 'signature_slot_filled', (d, r) => {
  const [place, byte] = [r.between(0, 63), r.between(1, 255)];
  d.onTransaction = (t) => ({ ...t, signatures: [new Uint8Array(64).with(place, byte)] });
});

// S6: a transaction that never expires
for (const [name, discriminator] of [
  ['advanced', 4],
  ['withdrawn from', 5],
  ['initialized', 6],
  ['handed over', 7],
  ['upgraded', 12],
] as const) {
  near(`a nonce ${name}`, 'nonce_instruction', (d, r) => {
    const nonce = system(
      discriminator,
      [at(wallet(r.between(50, 999))), us],
      discriminator === 4 ? u32(0).slice(4) : addressSeed(THIEF),
    );
    d.instructions.splice(r.pick([0, 0, 3]), 0, nonce);
  });
}

// S7: what hides in lookup tables
const tabled = (d: Draft) => {
  d.version = 0;
  d.inTable = [LIFI_COLLECTOR];
};
near('a table that one node does not have', 'table_unread', (d) => {
  tabled(d);
  d.onTable = (view, node) => (node === 1 ? null : view);
});
near('a table of another program', 'table_not_a_table', (d) => {
  tabled(d);
  d.onTable = (view) => ({ ...view, owner: THIEF });
});
near('a table that is being closed', 'table_deactivating', (d, r) => {
  tabled(d);
  const slot = BigInt(r.between(0, 2_000_000_000));
  d.onTable = (view) => {
    view.data.set(u64(slot), 4);
    return view;
  };
});
near('a table that is shorter', 'table_index', (d) => {
  tabled(d);
  d.onTable = (view) => ({ ...view, data: view.data.slice(0, 56) });
});
near('nodes that tell two tables', 'table_disagreement', (d) => {
  tabled(d);
  d.onTable = (view, node) => {
    if (node === 1) view.data.set(addressSeed(THIEF), 56);
    return view;
  };
});
near('a key of the message once more in a table', 'key_loaded_twice', (d) => {
  tabled(d);
  d.onTable = (view) => {
    view.data.set(addressSeed(d.deposit), 56);
    return view;
  };
});
near('the fee to somebody else, hidden in a table', 'payment_count', (d) => {
  tabled(d);
  d.onTable = (view) => {
    view.data.set(addressSeed(THIEF), 56);
    return view;
  };
});
near('a table that was never read', 'table_unread', (d) => {
  tabled(d);
  d.onTransaction = (t) => ({ ...t, tables: t.tables.map((one) => ({ ...one, table: THIEF })) });
});
near('an account of ours in a table', 'own_account_touched', (d, r) => {
  tabled(d);
  const own = addressSeed(r.pick(OWN));
  d.onTable = (view) => ({ ...view, data: concatBytes(view.data, own) });
  d.onTransaction = (t) => ({ ...t, tables: [{ table: TABLE, writable: [0], readonly: [1] }] });
});

// S8: programs
both(
  'a program that nobody knows',
  'program_unknown',
  also((r) => ({
    program: wallet(r.between(40, 9_999)),
    accounts: [],
    data: new Uint8Array(r.between(0, 40)),
  })),
);
both(
  'a memo',
  'program_unknown',
  also(() => ({
    program: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    accounts: [],
    data: Uint8Array.of(65),
  })),
);
near(
  'the stake program',
  'program_unknown',
  also(() => ({ program: 'Stake11111111111111111111111111111111111111', accounts: [us], data: u32(4) })),
);
near(
  'a loader',
  'program_unknown',
  also(() => ({
    program: 'BPFLoaderUpgradeab1e11111111111111111111111',
    accounts: [at(THIEF), us],
    data: u32(4),
  })),
);
near('a vault swap on the other route', 'program_not_on_route', (d) => {
  const minimum = BigInt(d.quote.estimate.toAmountMin);
  d.instructions.push(vaultSwap({ amount: 1_000_000n, minimum, seed: new Uint8Array(32) }));
});
both('a program deployed anew', 'program_redeployed', (d, r) => {
  d.deployments.set(TRACKER_PROGRAM, { recorded: 5n, current: BigInt(r.between(6, 9_999)) });
});
both('a program that nobody looked at', 'program_deploy_unread', (d, r) => {
  if (r.chance(0.5)) d.deployments.delete(TRACKER_PROGRAM);
  else d.deployments.set(TRACKER_PROGRAM, { recorded: 5n, current: null });
});
const inner =
  (change: (draft: Draft, random: Random) => Instruction, instruction = LEG): Family['change'] =>
  (d, r) => {
    const call = change(d, r);
    const accounts = call.accounts.map(({ address }) => ({
      address,
      isSigner: address === RESERVE,
      isWritable: true,
    }));
    d.simulation.inner.push({ instruction, call: { ...call, accounts } });
  };
near(
  'a call out of a plain transfer',
  'inner_not_allowed',
  inner((_, r) => transfer(THIEF, BigInt(r.between(1, 9_999)))),
);
chainflip(
  'a transfer to somebody else inside the swap',
  'inner_not_allowed',
  inner((_, r) => transfer(THIEF, BigInt(r.between(1, 9_999)))),
);
chainflip(
  'an owner change inside the swap',
  'inner_not_allowed',
  inner(() => system(1, [us], addressSeed(THIEF))),
);
chainflip(
  'a token approval inside the swap',
  'inner_not_allowed',
  inner(() => token(TOKEN_PROGRAM, [4, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), read(THIEF), us])),
);
chainflip(
  'a call out of the tracker',
  'inner_not_allowed',
  inner((d) => transfer(leg(d).accounts[1]?.address ?? '', 1n), 2),
);
chainflip(
  'an account opened for somebody else',
  'inner_not_allowed',
  inner((d) => system(0, [us, at(leg(d).accounts[3]?.address ?? '')], u64(1n), u64(9n), addressSeed(THIEF))),
);
chainflip(
  'a swap that takes more inside',
  'inner_amount',
  inner((d, r) => transfer(leg(d).accounts[1]?.address ?? '', BigInt(r.between(1, 9_999)))),
);
chainflip('a swap that takes nothing inside', 'inner_amount', (d) => d.simulation.inner.pop());
chainflip(
  'rent without end',
  'inner_rent',
  inner((d, r) =>
    system(
      0,
      [us, at(leg(d).accounts[3]?.address ?? '')],
      u64(BigInt(r.between(600_000, 999_999_999))),
      u64(9n),
      addressSeed(SWAP_ENDPOINT_PROGRAM),
    ),
  ),
);

// S9: System
both(
  'the reserve given to another program',
  'system_owner_change',
  also(() => system(1, [us], addressSeed(THIEF))),
);
near(
  'the reserve given away by seed',
  'system_owner_change',
  also(() => system(10, [at(THIEF), us], addressSeed(RESERVE), seed('x'), addressSeed(THIEF))),
);
both(
  'the reserve bricked with data',
  'system_allocate',
  also((r) => system(8, [us], u64(BigInt(r.between(1, 10_000))))),
);
near(
  'data by seed',
  'system_allocate',
  also(() => system(9, [at(THIEF), us], addressSeed(RESERVE), seed('x'), u64(9n), addressSeed(THIEF))),
);
both(
  'an account opened at our cost',
  'system_create_account',
  also((r) =>
    system(r.pick([0, 13]), [us, { ...at(THIEF) }], amountOf(r), u64(0n), addressSeed(SYSTEM_PROGRAM)),
  ),
);
near(
  'an account opened by seed',
  'system_create_account',
  also((r) =>
    system(3, [us, at(THIEF)], addressSeed(RESERVE), seed('x'), amountOf(r), u64(0n), addressSeed(THIEF)),
  ),
);
near(
  'a transfer by seed',
  'system_seed_transfer',
  also((r) => system(11, [at(THIEF), us, at(wallet(77))], amountOf(r), seed('x'), addressSeed(THIEF))),
);
near(
  'a System instruction of the future',
  'system_unknown',
  also((r) => system(r.between(14, 2_000_000_000), [us])),
);
near(
  'a transfer with a tail',
  'system_malformed',
  (d, r) => (leg(d).data = concatBytes(leg(d).data, new Uint8Array(r.between(1, 20)))),
);
near(
  'a transfer cut short',
  'system_malformed',
  (d, r) => (leg(d).data = leg(d).data.slice(0, r.between(0, 11))),
);
near('a transfer of nothing', 'system_malformed', (d) => leg(d).data.fill(0, 4));
near('a transfer with one more account', 'system_malformed', (d) => leg(d).accounts.push(at(THIEF)));
near(
  'a transfer out of another wallet',
  'system_source',
  also((r) => transfer(RESERVE, BigInt(r.between(1, 999)), wallet(r.between(300, 399)))),
);
both(
  'a second payment',
  'payment_count',
  also((r) => transfer(THIEF, BigInt(r.between(1, 1_000_000)))),
);
near('two payments that sum up', 'payment_count', (d, r) => {
  const part = BigInt(r.between(1, 1_000));
  d.instructions[LEG] = transfer(d.deposit, d.amount - d.fee - part);
  d.instructions.push(transfer(THIEF, part));
});
near('no payment', 'payment_missing', (d) => d.instructions.splice(LEG, 1));
chainflip('no swap', 'payment_missing', (d) => d.instructions.splice(LEG, 1));
chainflip(
  'a plain transfer of the exact amount in place of the swap',
  'payment_missing',
  (d) => (d.instructions[LEG] = transfer(THIEF, d.amount - d.fee)),
);
near(
  'all of it as a fee',
  'payment_missing',
  (d) => (d.instructions[LEG] = transfer(LIFI_COLLECTOR, d.amount - d.fee)),
);
near(
  'more than was asked for',
  'payment_total',
  (d, r) => (d.instructions[LEG] = transfer(d.deposit, d.amount - d.fee + BigInt(r.between(1, 1_000_000)))),
);
near(
  'less than was asked for',
  'payment_total',
  (d, r) => (d.instructions[LEG] = transfer(d.deposit, d.amount - d.fee - BigInt(r.between(1, 1_000)))),
);
chainflip('a swap of more', 'payment_total', (d, r) => {
  const amount = d.amount - d.fee + BigInt(r.between(1, 1_000_000));
  d.instructions[LEG] = vaultSwap({
    amount,
    minimum: d.amount,
    seed: new Uint8Array(32).fill(r.between(0, 255)),
  });
});

// S10: tokens, under both programs
const TOKEN_ATTACKS: [string, Reason, number[], Account[]][] = [
  ['a delegate', 'token_delegate', [4, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), read(THIEF), us]],
  [
    'a checked delegate',
    'token_delegate',
    [13, 1, 0, 0, 0, 0, 0, 0, 0, 6],
    [at(USDC), read(ABSR_MINT), read(THIEF), us],
  ],
  ['an authority', 'token_authority', [6, 2, 1, ...addressSeed(THIEF)], [at(USDC), us]],
  ['a mint', 'token_mint', [7, 1, 0, 0, 0, 0, 0, 0, 0], [at(ABSR_MINT), at(THIEF), us]],
  ['a checked mint', 'token_mint', [14, 1, 0, 0, 0, 0, 0, 0, 0, 8], [at(ABSR_MINT), at(THIEF), us]],
  ['a burn', 'token_burn', [8, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), at(ABSR_MINT), us]],
  ['a freeze', 'token_freeze', [10], [at(USDC), read(ABSR_MINT), us]],
  ['a thaw', 'token_freeze', [11], [at(USDC), read(ABSR_MINT), us]],
  ['a batch', 'token_batch', [255, 3, 9, 4, 1, 0, 0, 0, 0, 0, 0, 0], [at(USDC), read(THIEF), us]],
  ['lamports withdrawn', 'token_lamports', [38], [at(USDC), at(THIEF), us]],
  ['lamports unwrapped', 'token_lamports', [45, 0], [at(TEMPORARY), at(THIEF), us]],
  ['a longer account', 'token_reallocate', [29, 7, 0], [at(USDC), us, read(SYSTEM_PROGRAM), us]],
  ['an extension', 'token_extension', [36, 1], [at(ABSR_MINT), us]],
  ['an account initialized', 'token_initialize', [18, ...addressSeed(THIEF)], [at(THIEF), read(WRAPPED_SOL)]],
  ['a question', 'token_query', [21], [read(WRAPPED_SOL)]],
  ['an opcode of the future', 'token_unknown', [99], [at(USDC), us]],
  ['a close with a tail', 'token_malformed', [9, 0], [at(TEMPORARY), us, us]],
  [
    'a transfer of the treasury',
    'token_not_own_wsol',
    [3, 1, 0, 0, 0, 0, 0, 0, 0],
    [at(USDC), at(THIEF), us],
  ],
  ['a close of the treasury', 'token_not_own_wsol', [9], [at(USDC), us, us]],
];
for (const [name, reason, data, accounts] of TOKEN_ATTACKS) {
  for (const [program, by] of [
    [TOKEN_PROGRAM, 'Token'],
    [TOKEN_2022_PROGRAM, 'Token-2022'],
  ] as const) {
    near(
      `${name} by ${by}`,
      reason,
      also(() => token(program, data, accounts)),
    );
  }
}
near(
  'wrapped SOL closed to somebody else',
  'token_close_destination',
  also(() => token(TOKEN_PROGRAM, [9], [at(TEMPORARY), at(THIEF), us])),
);
near(
  'wrapped SOL moved',
  'program_not_on_route',
  also(() => token(TOKEN_PROGRAM, [3, 1, 0, 0, 0, 0, 0, 0, 0], [at(TEMPORARY), at(THIEF), us])),
);

// S11: associated accounts
const ata = (data: number[], change: (accounts: Account[]) => void = () => undefined): Instruction => {
  const accounts = [us, at(TEMPORARY), us, read(WRAPPED_SOL), read(SYSTEM_PROGRAM), read(TOKEN_PROGRAM)];
  change(accounts);
  return { program: ASSOCIATED_TOKEN_PROGRAM, accounts, data: Uint8Array.from(data) };
};
near(
  'an account for somebody else at our cost',
  'ata_owner',
  also((r) => ata(r.pick([[], [0], [1]]), (accounts) => (accounts[2] = at(THIEF)))),
);
near(
  'an account of another token',
  'ata_account',
  also((r) => ata(r.pick([[], [0], [1]]), (accounts) => (accounts[3] = read(ABSR_MINT)))),
);
near(
  'a nested account recovered',
  'ata_recover',
  also(() => ata([2])),
);
near(
  'an associated instruction of the future',
  'ata_unknown',
  also((r) => ata([r.between(3, 255)])),
);
near(
  'an associated account with a tail',
  'ata_malformed',
  also(() => ata([1, 0])),
);
near(
  'our own wrapped SOL on a route without it',
  'program_not_on_route',
  also((r) => ata(r.pick([[], [0], [1]]))),
);

// S12: compute
near('a price for priority above the cap', 'compute_price', (d, r) => {
  d.instructions[1] = budget(3, u64(BigInt(r.between(2_600_000, 2_000_000_000))));
});
near('a price without a limit', 'compute_price', (d) => {
  d.instructions[1] = budget(3, u64(400_000n));
  d.instructions.splice(0, 1);
});
near(
  'a limit that stands twice',
  'compute_repeated',
  also(() => budget(2, u32(1_000))),
);
near(
  'a price that stands twice',
  'compute_repeated',
  also(() => budget(3, u64(1n))),
);
near(
  'more units than a transaction has',
  'compute_range',
  (d, r) => (d.instructions[0] = budget(2, u32(r.between(1_400_001, 2_000_000_000)))),
);
near(
  'the old request with a fee of its own',
  'compute_unknown',
  also((r) => budget(0, concatBytes(u32(1), u32(r.between(1, 2_000_000_000))))),
);
near(
  'a compute instruction of the future',
  'compute_unknown',
  also((r) => budget(r.between(5, 255), u32(1))),
);
near(
  'a price with a tail',
  'compute_malformed',
  (d) => (d.instructions[1] = budget(3, concatBytes(u64(1n), u32(0)))),
);
near(
  'our key under a compute instruction',
  'compute_malformed',
  also(() => ({ program: COMPUTE_BUDGET_PROGRAM, accounts: [us], data: Uint8Array.of(1, 0, 128, 0, 0) })),
);

// S13 to S15: our own keys
near(
  'a transfer to ourselves',
  'reserve_mentioned',
  (d) => (d.instructions[LEG] = transfer(RESERVE, d.amount - d.fee)),
);
both('an account of ours along for the ride', 'own_account_touched', (d, r) => {
  d.version = 0;
  d.inTable = [];
  const own = r.pick(OWN);
  d.onTransaction = (t) => ({ ...t, keys: [...t.keys, own], readonlyUnsigned: t.readonlyUnsigned + 1 });
});
near(
  'the payment into an account of ours',
  'own_account_touched',
  (d, r) => (d.instructions[LEG] = transfer(r.pick(OWN), d.amount - d.fee)),
);
chainflip('our treasury as broker', 'own_key_in_data', (d, r) => {
  const data = leg(d).data.slice();
  data.set(addressSeed(r.pick([...OWN, RESERVE])), data.length - 4 - 32 - 3 - 32);
  leg(d).data = data;
});

// S17: the simulation
both(
  'a transaction that fails',
  'simulation_failed',
  (d, r) => (d.simulation.error = r.pick([{ InstructionError: [4, 'x'] }, 'AccountNotFound', false])),
);
both('a simulation without the reserve', 'simulation_incomplete', (d) =>
  d.simulation.accounts.delete(RESERVE),
);
near('a reserve that is gone', 'simulation_incomplete', (d) => {
  const one = d.simulation.accounts.get(RESERVE);
  d.simulation.accounts.set(RESERVE, { before: one?.before ?? null, after: null });
});
near('a simulation without an account of ours', 'simulation_incomplete', (d, r) =>
  d.simulation.accounts.delete(r.pick(OWN)),
);
const after =
  (
    key: (r: Random) => string,
    change: (state: { owner: string; lamports: bigint; data: Uint8Array }, r: Random) => void,
  ): Family['change'] =>
  (d, r) => {
    const address = key(r);
    const one = d.simulation.accounts.get(address);
    if (!one?.after) throw new Error('no state');
    const state = { ...one.after, data: one.after.data.slice() };
    change(state, r);
    d.simulation.accounts.set(address, { before: one.before, after: state });
  };
const reserve = () => RESERVE;
both(
  'a reserve with another owner',
  'reserve_owner_changed',
  after(reserve, (s) => (s.owner = THIEF)),
);
both(
  'a reserve with data',
  'reserve_data_changed',
  after(reserve, (s, r) => (s.data = new Uint8Array(r.between(1, 99)))),
);
both(
  'a drain',
  'reserve_overspent',
  after(reserve, (s, r) => (s.lamports -= BigInt(r.between(1, 7_000_000_000)))),
);
near(
  'a node that has not run it',
  'reserve_underspent',
  after(reserve, (s, r) => (s.lamports += BigInt(r.between(600_000, 9_000_000)))),
);
near('a reserve below its floor', 'balance_floor', (d) => {
  const one = d.simulation.accounts.get(RESERVE);
  if (!one?.before || !one.after) throw new Error('no state');
  const less = one.after.lamports - 99_999_999n;
  d.simulation.accounts.set(RESERVE, {
    before: { ...one.before, lamports: one.before.lamports - less },
    after: { ...one.after, lamports: one.after.lamports - less },
  });
});
const own = (r: Random) => r.pick(OWN);
both(
  'tokens that move',
  'own_account_changed',
  after(own, (s, r) => (s.data[64] = r.between(8, 255))),
);
near(
  'a token account with another owner',
  'own_account_changed',
  after(own, (s, r) => (s.data[r.between(32, 63)] = 9)),
);
near(
  'a token account with a delegate',
  'own_account_changed',
  after(own, (s) => (s.data[72] = 1)),
);
near(
  'a token account with a close authority',
  'own_account_changed',
  after(own, (s) => (s.data[129] = 1)),
);
near(
  'a token account of another program',
  'own_account_changed',
  after(own, (s) => (s.owner = THIEF)),
);
near(
  'rent that leaves a token account',
  'own_account_changed',
  after(own, (s) => (s.lamports -= 1n)),
);
near('a token account that is gone', 'own_account_changed', (d, r) => {
  const address = r.pick(OWN);
  d.simulation.accounts.set(address, {
    before: d.simulation.accounts.get(address)?.before ?? null,
    after: null,
  });
});

// S19: the tracker, the destination
const tracker = (d: Draft): Instruction => {
  const found = d.instructions[2];
  if (!found) throw new Error('no tracker');
  return found;
};
near('the id of another quote', 'tracker_id', (d, r) => {
  const place = r.between(1, 8);
  tracker(d).data[place] = (tracker(d).data[place] ?? 0) ^ r.between(1, 255);
});
near('no tracker', 'tracker_count', (d) => d.instructions.splice(2, 1));
near('two trackers', 'tracker_count', (d) => d.instructions.push(tracker(d)));
near(
  'a tracker with a tail',
  'tracker_malformed',
  (d) => (tracker(d).data = concatBytes(tracker(d).data, u32(0))),
);
near('a tracker of another kind', 'tracker_malformed', (d, r) => (tracker(d).data[0] = r.between(1, 255)));
near(
  'our key given to the tracker',
  'tracker_account',
  (d, r) => (tracker(d).accounts[r.between(0, 1)] = us),
);
near('one account more for the tracker', 'tracker_malformed', (d) => tracker(d).accounts.push(us));

const order =
  (change: (d: Draft, r: Random) => Partial<Parameters<typeof vaultSwap>[0]>): Family['change'] =>
  (d, r) => {
    const minimum = BigInt(d.quote.estimate.toAmountMin);
    d.instructions[LEG] = vaultSwap({
      amount: d.amount - d.fee,
      minimum,
      seed: new Uint8Array(32).fill(r.between(0, 255)),
      ...change(d, r),
    });
  };
chainflip(
  'BTC to the thief',
  'chainflip_destination',
  order(() => ({ address: 'bc1qthief0qejxtdg4y5r3zarvary0c5xw7kv8f3t4' })),
);
chainflip(
  'an address one letter off',
  'chainflip_destination',
  order((_, r) => {
    const place = r.between(4, 41);
    return {
      address:
        BITCOIN_ADDRESS.slice(0, place) +
        (BITCOIN_ADDRESS[place] === 'q' ? 'p' : 'q') +
        BITCOIN_ADDRESS.slice(place + 1),
    };
  }),
);
chainflip(
  'our address in capitals',
  'chainflip_destination',
  order(() => ({ address: BITCOIN_ADDRESS.toUpperCase() })),
);
chainflip(
  'our address and a tail',
  'chainflip_destination',
  order(() => ({ address: `${BITCOIN_ADDRESS}\0` })),
);
chainflip(
  'refunds to the thief',
  'chainflip_refund_address',
  order(() => ({ refund: THIEF })),
);
chainflip(
  'refunds to the burn address',
  'chainflip_refund_address',
  order(() => ({ refund: SYSTEM_PROGRAM })),
);
chainflip(
  'no floor under the output',
  'chainflip_minimum',
  order(() => ({ minimum: 0n })),
);
chainflip(
  'a floor too low',
  'chainflip_minimum',
  order((d, r) => ({ minimum: (BigInt(d.quote.estimate.toAmountMin) * BigInt(r.between(1, 999))) / 1_000n })),
);
chainflip(
  'another chain',
  'chainflip_destination_chain',
  order((_, r) => ({ chain: r.pick([1, 2, 4, 5]) })),
);
chainflip(
  'another asset',
  'chainflip_destination_chain',
  order((_, r) => ({ token: r.pick([1, 4, 9, 10]) })),
);
chainflip(
  'a broker that takes too much',
  'chainflip_fees',
  order((_, r) => ({ brokerBps: r.between(51, 65_535) })),
);
chainflip(
  'a boost fee',
  'chainflip_fees',
  order((_, r) => ({ boost: r.between(1, 255) })),
);
chainflip(
  'retries for days',
  'chainflip_retry',
  order((_, r) => ({ retry: r.between(601, 2_000_000_000) })),
);
chainflip('a swap of nothing', 'chainflip_amount', (d) => leg(d).data.fill(0, 8, 16));
chainflip(
  'an order that nobody can read',
  'chainflip_trailing_bytes',
  (d, r) => (leg(d).data = concatBytes(leg(d).data, new Uint8Array(r.between(1, 9)))),
);
chainflip(
  'an order cut short',
  'chainflip_truncated',
  (d, r) => (leg(d).data = leg(d).data.slice(0, leg(d).data.length - r.between(1, 32))),
);
chainflip('a message to run', 'chainflip_ccm', (d) => (leg(d).data = leg(d).data.with(70, 1)));
chainflip(
  'another version',
  'chainflip_version',
  (d, r) => (leg(d).data = leg(d).data.with(75, r.between(2, 255))),
);
chainflip(
  'an option that is neither',
  'chainflip_field',
  (d, r) => (leg(d).data = leg(d).data.with(145, r.between(2, 255))),
);
chainflip('payment in parts', 'chainflip_dca', (d) => {
  const data = leg(d).data;
  // The parameters stand at 75 with their length before them, dca at 71 of them.
  const longer = concatBytes(data.slice(0, 146), Uint8Array.of(1), u32(9), u32(2), data.slice(147));
  longer.set(u32(116), 71);
  leg(d).data = longer;
});
chainflip('a token swap', 'chainflip_instruction', (d) => leg(d).data.set(hexToBytes('4532fc63e55377eb')));
chainflip(
  'another vault',
  'chainflip_accounts',
  (d, r) => (leg(d).accounts[r.pick([0, 1, 3, 4])] = at(THIEF)),
);

near('a destination that nobody confirmed', 'destination_unconfirmed', (d) => (d.status = null));
const status =
  (change: (status: NonNullable<Draft['status']>, r: Random, d: Draft) => void): Family['change'] =>
  (d, r) => {
    if (!d.status) throw new Error('no status');
    change(d.status, r, d);
  };
near(
  'the exact amount to the thief',
  'near_deposit_address',
  (d) => (d.instructions[LEG] = transfer(THIEF, d.amount - d.fee)),
);
near(
  'a deposit address that is used',
  'near_status',
  status(
    (s, r) =>
      (s.status = r.pick(['SUCCESS', 'PROCESSING', 'KNOWN_DEPOSIT_TX', 'REFUNDED', 'INCOMPLETE_DEPOSIT'])),
  ),
);
near(
  'a deposit that was seen',
  'near_deposit_seen',
  status((s) => (s.swapDetails.originChainTxHashes = [{ hash: 'x' }])),
);
near(
  'a quote for the recipient of the thief',
  'quote_recipient',
  status((s) => (s.quoteResponse.quoteRequest.recipient = 'bc1qthief')),
);
near(
  'a quote that refunds the thief',
  'quote_refund_address',
  status((s) => (s.quoteResponse.quoteRequest.refundTo = THIEF)),
);
near(
  'a quote for another amount',
  'quote_amount',
  status((s, r) => (s.quoteResponse.quoteRequest.amount = `${r.between(1, 99_999_999)}`)),
);
near(
  'a quote that nobody of 1Click signed',
  'quote_signature',
  (d, r) => (d.quoteSecret = new Uint8Array(32).fill(r.between(9, 255))),
);
near(
  'a quote that ends too soon',
  'quote_deadline',
  status((s) => (s.quoteResponse.quote.deadline = '2026-11-20T10:05:00.000Z')),
);
near(
  'a quote that pays less than LI.FI says',
  'near_minimum',
  status((s) => (s.quoteResponse.quote.minAmountOut = '1')),
);
near(
  'a quote with fees for somebody',
  'quote_app_fees',
  status((s) => (s.quoteResponse.quoteRequest.appFees = [{ recipient: 'x', fee: 500 }])),
);
near(
  'a quote with a detour',
  'quote_detour',
  status((s) => (s.quoteResponse.quote.customRecipientMsg = 'x')),
);

// S20, S21: the echo and its price
for (const tool of ['relaydepository', 'mayan', 'thorswap', 'allbridge', 'NEAR']) {
  near(`the tool ${tool}`, 'quote_tool', (d) => (d.quote.tool = tool));
}
near('another tool inside', 'quote_tool', (d) => (d.quote.estimate.tool = 'chainflip'));
both('another chain to pay on', 'quote_chain', (d, r) => (d.quote.action.toChainId = r.between(1, 99_999)));
both('another token to pay out', 'quote_token', (d) => (d.quote.action.toToken.address = 'ordinal'));
near('a token with other decimals', 'quote_token', (d) => (d.quote.action.toToken.decimals = 6));
near('wrapped SOL in place of SOL', 'quote_token', (d) => (d.quote.action.fromToken.address = WRAPPED_SOL));
both(
  'a quote for another amount of SOL',
  'quote_from_amount',
  (d, r) => (d.quote.action.fromAmount = `${d.amount + BigInt(r.between(1, 99))}`),
);
both('a quote for another wallet', 'quote_from_address', (d) => (d.quote.action.fromAddress = THIEF));
both('a quote to another address', 'quote_to_address', (d) => (d.quote.action.toAddress = 'bc1qthief'));
near('a quote with another slippage', 'quote_echo_slippage', (d) => (d.quote.action.slippage = 0.5));
near('a message in place of a transaction', 'quote_execution', (d) => (d.quote.executionType = 'message'));
both(
  'an old quote',
  'quote_stale',
  (d, r) => (d.ageMs = r.pick([60_001, -1, Number.NaN, r.between(60_001, 9_999_999)])),
);
both(
  'an output below the price',
  'quote_minimum',
  (d, r) => (d.quote.estimate.toAmountMin = `${r.between(0, 9_000)}`),
);
near(
  'a minimum above the output',
  'quote_minimum',
  (d) => (d.quote.estimate.toAmountMin = `${BigInt(d.quote.estimate.toAmount) + 1n}`),
);
const fee =
  (
    change: (one: NonNullable<Draft['quote']['estimate']['feeCosts']>[number], d: Draft) => void,
  ): Family['change'] =>
  (d) => {
    const one = d.quote.estimate.feeCosts?.[0];
    if (!one) throw new Error('no fee');
    change(one, d);
  };
near(
  'a fee on top',
  'quote_fee_on_top',
  fee((one) => (one.included = false)),
);
near(
  'a fee in another token',
  'quote_fee_token',
  fee((one) => (one.token.address = WRAPPED_SOL)),
);
near(
  'fees above the cap',
  'quote_fees',
  fee((one, d) => (one.amount = `${d.amount / 100n}`)),
);
near('a transfer of fees above the cap', 'fee_over_cap', (d, r) => {
  const taken = (d.amount * BigInt(r.between(51, 2_000))) / 10_000n;
  d.instructions[3] = transfer(LIFI_COLLECTOR, taken);
  d.instructions[LEG] = transfer(d.deposit, d.amount - taken);
});

export const FAMILIES: readonly Family[] = list;

export function hostileDraft(family: Family, number: number): Draft {
  const draft = draftSwap(family.tool, number);
  family.change(draft, createRandom(number ^ 0x5eed));
  return draft;
}
