import { expect, it } from 'vitest';
import { ALLOWED_LICENCES, productionDependencies } from '../../scripts/licences-page.ts';

it('everything that runs in production has a licence that asks for no more than its own text', () => {
  const dependencies = productionDependencies();
  expect(dependencies.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['hono', 'zod', '@noble/curves']),
  );
  expect(dependencies.filter(({ licence }) => !ALLOWED_LICENCES.includes(licence))).toEqual([]);
});
