/**
 * In which slot each program that a stranger's transaction may call was last deployed, as we first trusted it. One that
 * was deployed again since is another program, until the operator says otherwise.
 * @module
 */
import type { Journal } from '../kernel/journal.ts';
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

/** The next swap over it that passes trusts each program as it is then. */
export function forgetPrograms(journal: Pick<Journal, 'setMeta'>, programs: readonly string[]): void {
  for (const program of programs) journal.setMeta(keyOf(program), '');
}
