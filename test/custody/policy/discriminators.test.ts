/** @module-tag deep */
import { concatBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { checkSwapPolicy } from '../../../src/custody/policy/policy.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TRACKER_PROGRAM,
} from '../../../src/custody/policy/programs.ts';
import type { Instruction } from '../../world/lifi-transaction.ts';
import { draftSwap, finish, RESERVE, THIEF } from './draft.ts';

const CHECK_OF: Record<string, RegExp> = {
  [SYSTEM_PROGRAM]: /^(system_|nonce_)/,
  [TOKEN_PROGRAM]: /^token_/,
  [TOKEN_2022_PROGRAM]: /^token_/,
  [ASSOCIATED_TOKEN_PROGRAM]: /^ata_/,
  [COMPUTE_BUDGET_PROGRAM]: /^compute_/,
  [TRACKER_PROGRAM]: /^tracker_/,
};
const BYTES = Array.from({ length: 256 }, (_, byte) => byte);

function verdictOf(instruction: Instruction) {
  const draft = draftSwap('near', 5);
  draft.instructions.splice(3, 0, instruction);
  return checkSwapPolicy(finish(draft));
}

/** The first byte with the bodies of possible instructions, and without a body. */
const bodies = [4, 0, 3, 8, 11, 40].map((length) => new Uint8Array(length));
const accounts = [
  [],
  [
    { address: RESERVE, isSigner: true, isWritable: true },
    { address: THIEF, isWritable: true },
  ],
  [
    { address: THIEF, isWritable: true },
    { address: RESERVE, isSigner: true, isWritable: true },
  ],
];

it.each(Object.entries(CHECK_OF))(
  'decides every discriminator of %s',
  async (program, ownReasons) => {
    const passed = new Set<number>();
    for (const byte of BYTES) {
      for (const [index, body] of bodies.entries()) {
        const data = concatBytes(Uint8Array.of(byte), body);
        const verdict = await verdictOf({ program, accounts: accounts[index % accounts.length] ?? [], data });
        if (verdict.ok) passed.add(byte);
        else expect(verdict.reason).toMatch(ownReasons);
      }
    }
    // A heap frame and a loaded size of nothing: they cost nothing, and only our own transaction could fail by them.
    expect([...passed]).toEqual(program === COMPUTE_BUDGET_PROGRAM ? [1, 4] : []);
  },
  60_000,
);
