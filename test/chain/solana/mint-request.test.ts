import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { AccountRole, address } from '@solana/web3.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../../src/chain/solana/address.ts';
import { type MintTerms, readMintRequest } from '../../../src/chain/solana/mint-request.ts';
import { createAtaIdempotent, findAta, mintTo } from '../../../src/chain/solana/token-instructions.ts';
import {
  mintMessage,
  type TokenMint,
  tokenTransferMessage,
} from '../../../src/chain/solana/token-messages.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { compileMessage, memoInstruction, signedTransaction } from '../../../src/chain/solana/transaction.ts';
import { cases } from '../../cases.ts';
import { decodeMessage } from './decode-message.ts';

const keyOf = (seed: number) => new Uint8Array(32).fill(seed);
const addressOf = (seed: number) => encodeBase58(ed25519.getPublicKey(keyOf(seed)));
const CUSTODIAN = 1;
const [custodian, witness, stranger] = [addressOf(CUSTODIAN), addressOf(2), addressOf(3)];
const TERMS: MintTerms = {
  custodian,
  multisig: { address: addressOf(4), witness },
  mint: addressOf(5),
  owner: addressOf(6),
};
const BLOCKHASH = addressOf(7);
const UNSIGNED = new Uint8Array(64);

const wireOf = (message: Uint8Array, seed = CUSTODIAN) =>
  signedTransaction(message, [ed25519.sign(message, keyOf(seed)), UNSIGNED]).wire;

const BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const u64 = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
};

const MINT: TokenMint = {
  ...{ payer: custodian, multisig: TERMS.multisig, owner: TERMS.owner, mint: TERMS.mint },
  ...{ program: TOKEN_PROGRAM, atoms: 1_500n, decimals: 2, memo: 'proof:aa' },
};
const LIFETIME = { blockhash: BLOCKHASH };
/** SetAuthority (6) of the mint: its mint authority (0) becomes the custodian alone. */
const setAuthority = {
  programAddress: address(TOKEN_PROGRAM),
  accounts: [
    { address: address(TERMS.mint), role: AccountRole.WRITABLE },
    { address: address(TERMS.multisig.address), role: AccountRole.READONLY },
    { address: address(custodian), role: AccountRole.READONLY_SIGNER },
    { address: address(witness), role: AccountRole.READONLY_SIGNER },
  ],
  data: Uint8Array.of(6, 0, 1, ...base58.decode(custodian)),
};
const read = (message: Uint8Array) => readMintRequest(wireOf(message), TERMS);

describe('reading a request for a second signature', () => {
  it.each([TOKEN_PROGRAM, TOKEN_2022_PROGRAM])(
    'accepts the mint that the service builds under %s',
    async (program) => {
      for (const version of [0, 1] as const)
        for (const memo of [undefined, 'proof:aa', 'é'.repeat(40)]) {
          const message = mintMessage({ ...MINT, program, memo }, { ...LIFETIME, version });
          const signature = encodeBase58(ed25519.sign(message, keyOf(CUSTODIAN)));
          const expected = { message, signature, blockhash: BLOCKHASH, program, atoms: 1_500n, decimals: 2 };
          expect(await readMintRequest(wireOf(message), TERMS)).toEqual(expected);
        }
    },
  );

  it('accepts amounts up to the largest u64', async () => {
    for (const atoms of [0n, 1n, 2n ** 64n - 1n])
      expect(await read(mintMessage({ ...MINT, atoms }, LIFETIME))).toMatchObject({ atoms });
  });

  it.each<[string, Partial<TokenMint>]>([
    ['pays to another owner', { owner: stranger }],
    ['mints another token', { mint: stranger }],
    ['is paid by another key', { payer: stranger }],
    ['names another multisig', { multisig: { address: stranger, witness } }],
    ['names another second signer', { multisig: { address: TERMS.multisig.address, witness: stranger } }],
    ['needs no second signature', { multisig: undefined }],
  ])('refuses a mint that %s', async (_, change) => {
    expect(await read(mintMessage({ ...MINT, ...change }, LIFETIME))).toBe('not_a_mint');
  });

  it('refuses an additional instruction before, between or after the instructions of a mint', async () => {
    const signers = [custodian, witness];
    const extra = mintTo({ ...MINT, account: addressOf(8), authority: TERMS.multisig.address, signers });
    const memo = memoInstruction('x');
    const budget = { units: 160_000, unitPrice: 10_000n };
    for (const instructions of [[extra], [extra, extra], [setAuthority], [memo, extra], [memo], []])
      expect(await read(compileMessage(custodian, LIFETIME, budget, instructions))).toBe('not_a_mint');
  });

  it('refuses a transfer that the custodian has signed', async () => {
    const accounts = { from: custodian, to: stranger, mint: TERMS.mint, program: TOKEN_PROGRAM };
    const transfer = { ...accounts, atoms: 1n, decimals: 2, memo: 'm', createAccount: true };
    const message = tokenTransferMessage(transfer, LIFETIME);
    expect(await read(message)).toBe('not_a_mint');
  });

  it("refuses a mint that is signed by a different key than the custodian's, or unsigned", async () => {
    const message = mintMessage(MINT, LIFETIME);
    expect(await readMintRequest(wireOf(message, 3), TERMS)).toBe('not_signed_by_custodian');
    const { wire } = signedTransaction(message, [UNSIGNED, ed25519.sign(message, keyOf(CUSTODIAN))]);
    expect(await readMintRequest(wire, TERMS)).toBe('not_signed_by_custodian');
    const other = ed25519.sign(mintMessage({ ...MINT, atoms: 1n }, LIFETIME), keyOf(CUSTODIAN));
    const replayed = signedTransaction(message, [other, UNSIGNED]).wire;
    expect(await readMintRequest(replayed, TERMS)).toBe('not_signed_by_custodian');
  });

  it('refuses bytes that are not a transaction', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 1_300 }), async (bytes) => {
        expect(await readMintRequest(bytes, TERMS)).toBe('not_a_mint');
      }),
      { numRuns: 2_000 },
    );
  });

  it('of 10,000 generated transactions, accepts only mints of the agreed token to the agreed account', {
    tags: ['scaled'],
    timeout: 600_000,
  }, async () => {
    const account = findAta(TERMS.owner, TERMS.mint, TOKEN_PROGRAM);
    const { owner, mint: token } = TERMS;
    const openAccount = createAtaIdempotent({ payer: custodian, owner, mint: token, program: TOKEN_PROGRAM });
    const multisig = TERMS.multisig.address;
    const mint = { ...MINT, account, authority: multisig, signers: [custodian, witness] };
    const known = [openAccount, memoInstruction('proof:aa'), mintTo(mint)];
    const foreign = [
      mintTo({ ...mint, account: stranger }),
      mintTo({ ...mint, authority: witness, signers: [custodian, witness] }),
      mintTo({ ...mint, signers: [custodian, witness, witness] }),
      memoInstruction(''),
      setAuthority,
    ];
    /** Mostly one, in one of ten the other. */
    const mostly = <T>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>, weight = 9) =>
      fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
    const instruction = mostly(fc.constantFrom(...known), fc.constantFrom(...foreign), 8);
    const edit = fc.tuple(fc.nat(2_000), fc.nat(255), fc.constantFrom('set', 'insert', 'remove'));
    const generated = fc.record({
      instructions: fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(known, [openAccount, mintTo(mint)]) },
        { weight: 3, arbitrary: fc.array(instruction, { maxLength: 4 }) },
      ),
      payer: mostly(fc.constant(custodian), fc.constant(witness)),
      version: fc.constantFrom(0 as const, 1 as const),
      units: mostly(fc.constant(160_000), fc.nat(400_000)),
      edits: fc.oneof(fc.constant([]), fc.array(edit, { maxLength: 2 })),
    });
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(generated, async ({ instructions, payer, version, units, edits }) => {
        const budget = { units, unitPrice: 10_000n };
        const bytes = [...compileMessage(payer, { ...LIFETIME, version }, budget, instructions)];
        for (const [at, value, edit] of edits)
          bytes.splice(at % bytes.length, edit === 'insert' ? 0 : 1, ...(edit === 'remove' ? [] : [value]));
        const message = Uint8Array.from(bytes);
        const result = await read(message);
        if (typeof result === 'string') return;
        accepted += 1;
        expect(result.message).toEqual(message);
        const seen = decodeMessage(message);
        expect(seen).toMatchObject({ requiredSignatures: 2, tableLookups: 0, rest: 0 });
        expect(seen.keys.slice(0, 2)).toEqual([custodian, witness]);
        const [open, ...others] = seen.instructions.filter(({ program }) => program !== BUDGET_PROGRAM);
        expect(open?.data).toEqual(Uint8Array.of(1));
        const last = others.pop();
        expect(
          others.every(({ program, accounts }) => program === MEMO_PROGRAM && accounts.length === 0),
        ).toBe(true);
        expect(others.length).toBeLessThan(2);
        const receiving = findAta(TERMS.owner, TERMS.mint, result.program);
        expect(last).toEqual({
          program: result.program,
          accounts: [TERMS.mint, receiving, multisig, custodian, witness],
          data: Uint8Array.of(14, ...u64(result.atoms), result.decimals),
        });
        expect(result.blockhash).toBe(seen.blockhash);
      }),
      { numRuns: cases(10_000, 600) },
    );
    expect(accepted).toBeGreaterThan(cases(1_000, 60));
  });
});
