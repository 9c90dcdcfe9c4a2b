import { expect, it } from 'vitest';
import { ALLOWED_LICENCES, productionDependencies } from '../../scripts/licences-page.ts';
import { copiedNotices } from '../../site/build/copied-notices.ts';

it('the site publishes the notices of unbundled third-party files', () => {
  const notices = copiedNotices();
  expect(notices).toMatch(/^## @fontsource-variable\/geist - [\d.]+ \(OFL-1\.1\)$/m);
  expect(notices).toContain('The Geist Project Authors');
  expect(notices).toContain('SIL OPEN FONT LICENSE');
});

it('every production dependency has a licence that only requires a copy of its text', () => {
  const dependencies = productionDependencies();
  expect(dependencies.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['hono', 'zod', '@noble/curves']),
  );
  expect(dependencies.filter(({ licence }) => !ALLOWED_LICENCES.includes(licence))).toEqual([]);
});
