/**
 * Makes a failing scenario small: leaves out one part after another as long as the same invariant still breaks.
 * @module
 */
import type { Production } from './production.ts';
import { runScenario } from './run-seed.ts';
import type { Scenario } from './scenario.ts';

/** Runs that a reduction may take. */
const MOST_RUNS = 400;

const LISTS = ['attacks', 'events', 'orders', 'deposits', 'swaps'] as const;

/** Scenarios with one part less, the largest parts first. */
function* smaller(scenario: Scenario): Generator<Scenario> {
  for (const list of LISTS) if (scenario[list].length > 0) yield { ...scenario, [list]: [] };
  if (scenario.lies) yield { ...scenario, lies: undefined };
  for (const list of LISTS)
    for (let index = 0; index < scenario[list].length; index++)
      yield { ...scenario, [list]: scenario[list].toSpliced(index, 1) };
  if (scenario.crashes > 0) yield { ...scenario, crashes: 0 };
  if (scenario.replacements > 0) yield { ...scenario, replacements: 0 };
  for (const part of Object.keys(scenario.wild) as (keyof Scenario['wild'])[]) {
    if (JSON.stringify(scenario.wild[part]) === JSON.stringify(scenario.calm[part])) continue;
    yield { ...scenario, wild: { ...scenario.wild, [part]: scenario.calm[part] } };
  }
  if (scenario.lies && scenario.lies.about.length > 1)
    for (const about of scenario.lies.about)
      yield { ...scenario, lies: { ...scenario.lies, about: [about] } };
  if (scenario.nodes.length > 2 && scenario.lies?.node !== 2)
    yield { ...scenario, nodes: scenario.nodes.slice(0, 2) };
}

export async function reduce(
  scenario: Scenario,
  production: Production,
  invariant: string,
): Promise<Scenario> {
  let smallest = scenario;
  let runs = 0;
  const fails = async (candidate: Scenario): Promise<boolean> => {
    runs++;
    const { violations } = await runScenario(candidate, production, () => undefined);
    return violations.some((violation) => violation.invariant === invariant);
  };
  for (let found = true; found && runs < MOST_RUNS; ) {
    found = false;
    for (const candidate of smaller(smallest)) {
      if (runs >= MOST_RUNS) break;
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return smallest;
}

/** The rest of a scenario, one line for each part with faults or requests. */
export function describe(scenario: Scenario): string[] {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? `${member}` : member));
  const { wild, calm, swaps, orders, deposits, attacks, events, ...rest } = scenario;
  const wildParts = (Object.keys(wild) as (keyof typeof wild)[]).filter(
    (part) => text(wild[part]) !== text(calm[part]),
  );
  return [
    `configuration ${text(rest)}`,
    ...Object.entries({ swaps, orders, deposits, attacks, events }).flatMap(([name, list]) =>
      list.map((one) => `${name}: ${text(one)}`),
    ),
    ...wildParts.map((part) => `faults: ${part} ${text(wild[part])}`),
  ];
}
