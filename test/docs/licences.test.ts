import { expect, it } from 'vitest';
import { ALLOWED_LICENCES, productionDependencies } from '../../scripts/licences-page.ts';

it('every production dependency has a licence that only requires a copy of its text', () => {
  const dependencies = productionDependencies();
  expect(dependencies.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['hono', 'zod', '@noble/curves']),
  );
  expect(dependencies.filter(({ licence }) => !ALLOWED_LICENCES.includes(licence))).toEqual([]);
});
