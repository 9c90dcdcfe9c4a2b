/**
 * The mutants of an area, the choice of a sample of them, and the result of each.
 * @module
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../../test/simulator/random.ts';
import type { Area } from './areas.ts';
import { type Change, type Mutant, mutantsOf } from './mutations.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const WORKERS = Number(process.env.MUTATE_WORKERS ?? 2);
/** The same seed chooses the same sample of the same source. */
const SAMPLE_SEED = 29;

export interface Judged {
  /** `error`: the changed code did not load or did not end. */
  readonly fate: 'killed' | 'survived' | 'error';
  /** The test or the seed that detected the mutant; for a survivor, what did not detect it. */
  readonly note: string;
  /** The test file that detected it. */
  readonly test?: string;
}

export interface Result extends Judged {
  readonly mutant: Mutant;
}

const sourceOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
export const mutantsIn = ({ files }: Area): Mutant[] =>
  files.flatMap((file) => mutantsOf(file, sourceOf(file)));

/** The text of the changed file. */
export function changedText({ file, start, was, becomes }: Change): string {
  const text = sourceOf(file);
  return text.slice(0, start) + becomes + text.slice(start + was.length);
}

/** @returns `sample` of the mutants unless it is 0, in the same order */
export function choose(mutants: readonly Mutant[], sample: number): readonly Mutant[] {
  if (sample === 0 || sample >= mutants.length) return mutants;
  const random = createRandom(SAMPLE_SEED);
  const places = new Map(mutants.map((mutant) => [mutant, random.next()]));
  const chosen = mutants.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0)).slice(0, sample);
  return mutants.filter((mutant) => chosen.includes(mutant));
}

/** Judges as many mutants at once as there are workers. */
export async function judgeAll(
  mutants: readonly Mutant[],
  judge: (change: Change) => Promise<Judged>,
  onResult: (result: Result) => void,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = mutants.values();
  const work = async (): Promise<void> => {
    for (const mutant of queue) {
      const judged = await judge(mutant.change).catch(
        (error): Judged => ({ fate: 'error', note: String(error) }),
      );
      const result = { mutant, ...judged };
      results.push(result);
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return results;
}
