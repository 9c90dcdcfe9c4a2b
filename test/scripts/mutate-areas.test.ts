import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AREAS } from '../../scripts/mutate/areas.ts';

it.each(AREAS)('names files that exist in the area $name', ({ files, tests }) => {
  const missing = [...files, ...tests].filter(
    (file) => !existsSync(join(import.meta.dirname, '../..', file)),
  );
  expect(missing).toEqual([]);
});
