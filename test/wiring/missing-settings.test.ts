import { expect, it } from 'vitest';
import { DECLARATIONS, readConfig, SETTINGS, VARIABLES } from '../../src/config.ts';
import { missingFor } from '../../src/wiring/missing-settings.ts';

const CUSTODIAN = ['custody', 'mint', 'asry', 'payments'] as const;
const LIMITS = SETTINGS.map(([name]) => name).filter((name) => /_MAX_|_FLOOR_|_LIMITS$/.test(name));

it.each(LIMITS)(
  'an invalid %s switches off its area of the custodian and is not replaced by the default',
  (name) => {
    const config = readConfig({ [name]: 'many' });
    expect(config.invalid).toEqual([name]);
    const off = CUSTODIAN.filter((area) => missingFor(config, area).includes(name));
    expect(off.length).toBeGreaterThan(0);
  },
);

it('an invalid daily cap stops the work that it limits', () => {
  for (const list of ['creations_day=many', 'payouts_day=-1', 'other_day=1', 'rent_day=1,rent_day=2']) {
    const config = readConfig({ DAILY_LIMITS: list });
    expect(missingFor(config, 'payments')).toContain('DAILY_LIMITS');
    expect(missingFor(config, 'asry')).toContain('DAILY_LIMITS');
    expect(missingFor(config, 'custody')).not.toContain('DAILY_LIMITS');
  }
});

it('an invalid ASRY_HELD_SENDERS stops both refunds and claims', () => {
  const config = readConfig({ ASRY_HELD_SENDERS: 'an exchange' });
  expect(missingFor(config, 'asry')).toContain('ASRY_HELD_SENDERS');
  expect(missingFor(config, 'payments')).toContain('ASRY_HELD_SENDERS');
});

it.each(SETTINGS)('the default of %s is a valid value', (name, { default: text }) => {
  if (text === undefined) return expect(readConfig({})[name]).toBeUndefined();
  expect(readConfig({ [name]: text }).invalid).toEqual([]);
  expect(VARIABLES[name].schema.parse(text)).toEqual(readConfig({})[name]);
});

it("the API's configuration contains neither secret keys nor their names", () => {
  const keys = DECLARATIONS.flatMap(([name, { custodyOnly }]) => (custodyOnly ? [name] : []));
  expect(keys).toEqual(['SOLANA_PRIVATE_KEY', 'BTC_PRIVATE_KEY_WIF', 'MINT_KEY_SEED']);
  const config = readConfig(Object.fromEntries(keys.map((name) => [name, 'a secret of this test'])));
  expect(JSON.stringify(config, (_, value: unknown) => String(value))).not.toContain('a secret of this test');
  for (const name of keys) expect(config).not.toHaveProperty(name);
});
