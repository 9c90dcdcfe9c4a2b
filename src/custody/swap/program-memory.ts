/**
 * The slot in which each program that a third party's transaction may call was last deployed, as first
 * trusted. A redeployed program is refused until the operator trusts it.
 * @module
 */
import type { Journal } from '../kernel/journal.ts';
import type { CustodyModule } from '../kernel/module.ts';
import { UPGRADEABLE } from '../policy/instructions.ts';
import type { ProgramMemory } from './third-party-payment.ts';

const keyOf = (program: string): string => `deployed:${program}`;

export function programMemory(journal: Pick<Journal, 'getMeta' | 'setMeta'>): ProgramMemory {
  const recorded = (program: string): bigint | null => {
    const text = journal.getMeta(keyOf(program));
    return text ? BigInt(text) : null;
  };
  return {
    recorded,
    record(program, slot) {
      if (recorded(program) !== slot) journal.setMeta(keyOf(program), slot.toString());
    },
  };
}

/** The operator's command: the next swap that passes stores each program's current deployment. */
export const trustPrograms =
  (journal: Pick<Journal, 'setMeta'>): NonNullable<CustodyModule['commands']>[string] =>
  async () => {
    for (const program of UPGRADEABLE) journal.setMeta(keyOf(program), '');
    return { ok: true, message: 'The programs of the LI.FI route are trusted as currently deployed.' };
  };
