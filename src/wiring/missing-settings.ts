/**
 * The settings that an area lacks. An invalid setting is treated as missing, so an area never uses a value that the
 * operator did not intend. The custodian reports missing secret keys itself.
 * @module
 */
import { type Config, READ } from '../config.ts';

/** Every area of the custodian requires the custodian itself. */
export const missingFor = (config: Config, area: 'custody' | 'mint' | 'asry' | 'payments'): string[] =>
  READ.flatMap(([name, { areas, required }]) => {
    const isNeeded = areas.some((one) => one === 'custody' || one === area);
    const isMissing = config.invalid.includes(name) || (required && config[name] === undefined);
    return isNeeded && isMissing ? [name] : [];
  });

/** All invalid settings, and the settings that the custodian lacks. */
export const missingAnywhere = (config: Config): string[] => [
  ...new Set([...missingFor(config, 'custody'), ...config.invalid]),
];
