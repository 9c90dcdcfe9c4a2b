/** The type of a family of attacks, and the parts from which attacks are built. */
import { concatBytes } from '@noble/hashes/utils.js';
import type { Tool } from '../../../../src/bridges/lifi-quote.ts';
import { ownWrappedSol, SYSTEM_PROGRAM } from '../../../../src/custody/policy/programs.ts';
import type { PolicyReason } from '../../../../src/custody/policy/refusal.ts';
import type { Random } from '../../../simulator/random.ts';
import { type Account, type Instruction, u32, u64 } from '../../../world/lifi-transaction.ts';
import { type Draft, OWN, RESERVE } from '../draft.ts';

export type Reason = PolicyReason | `near_${string}` | `quote_${string}`;
export type Family = {
  readonly name: string;
  readonly reason: Reason;
  readonly tool: Tool;
  readonly change: (draft: Draft, random: Random) => void;
};

export const LEG = 4;
export const [USDC = '', ABSR_MINT = ''] = OWN;
export const TEMPORARY = ownWrappedSol(RESERVE);
export const us: Account = { address: RESERVE, isSigner: true, isWritable: true };
export const at = (address: string): Account => ({ address, isWritable: true });
export const read = (address: string): Account => ({ address });

export function leg(draft: Draft): Instruction {
  const found = draft.instructions[LEG];
  if (!found) throw new Error('no leg');
  return found;
}

/** One more instruction, anywhere. */
export const also =
  (make: (random: Random, draft: Draft) => Instruction): Family['change'] =>
  (draft, random) => {
    draft.instructions.splice(random.between(0, draft.instructions.length), 0, make(random, draft));
  };

export const system = (discriminator: number, accounts: Account[], ...parts: Uint8Array[]): Instruction => ({
  program: SYSTEM_PROGRAM,
  accounts,
  data: concatBytes(u32(discriminator), ...parts),
});
export const token = (program: string, data: number[], accounts: Account[]): Instruction => ({
  program,
  accounts,
  data: Uint8Array.from(data),
});
export const seed = (text: string) => concatBytes(u64(BigInt(text.length)), new TextEncoder().encode(text));
export const amountOf = (random: Random) => u64(BigInt(random.between(1, 1_000_000_000)));

/** Families of one area, in the order in which they are named. */
export function collect() {
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
  return { list, near, chainflip, both };
}
