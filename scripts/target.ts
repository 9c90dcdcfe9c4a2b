/**
 * Which service an operator's command addresses, and the line that names it before anything else is printed. A target is
 * named by its origin, or it is the offline world that runs on this machine. Nothing is chosen among several worlds, and
 * no world is changed unless `--world` names it.
 * @module
 */
import * as z from 'zod';
import { findWorlds, type RunningWorld } from '../test/world/running-world.ts';
import { httpUrl, UsageError } from './command-line.ts';

export type Target = {
  readonly origin: string;
  /** OPS_SECRET of the operator's route; undefined if neither the environment nor the world has it. */
  readonly secret: string | undefined;
  /** The offline world at this origin, if it is one. */
  readonly world: RunningWorld | undefined;
};

type Choice = {
  /** The named origin, with the name of its option or variable; its value is undefined if it was not given. */
  readonly named: readonly [option: string, value: string | undefined];
  /** Whether `--world` was given. */
  readonly world: boolean;
  /** Whether the command changes something. */
  readonly changes?: boolean;
};

/** What else may decide the target: the worlds that run on this machine, and OPS_SECRET of the environment. */
type Surroundings = { readonly worlds?: readonly RunningWorld[]; readonly secret?: string | undefined };

/** @throws UsageError unless the arguments, the environment and the running worlds leave one target */
export function chooseTarget(
  { named: [option, value], world, changes = false }: Choice,
  { worlds = findWorlds(), secret = process.env.OPS_SECRET }: Surroundings = {},
): Target {
  const ownSecret = secret || undefined;
  if (value !== undefined && value !== '') {
    const { origin } = httpUrl(option, value);
    const running = worlds.find(({ url }) => new URL(url).origin === origin);
    if (world && running === undefined) throw new UsageError(`No offline world runs at ${origin}`);
    return { origin, secret: ownSecret ?? running?.bindings.OPS_SECRET, world: running };
  }
  const [only, ...others] = worlds;
  if (!world && ownSecret !== undefined)
    throw new UsageError(`OPS_SECRET is set without a service: name it with ${option}, or pass --world`);
  if (only === undefined)
    throw new UsageError(`Name the service with ${option}. No offline world runs here.`);
  if (others.length > 0)
    throw new UsageError(
      `${worlds.length} offline worlds run here. Name one with ${option}: ${worlds.map(({ url }) => url).join(', ')}`,
    );
  if (!world && changes)
    throw new UsageError(`Name the service with ${option}, or pass --world to address the offline world`);
  return { origin: new URL(only.url).origin, secret: only.bindings.OPS_SECRET, world: only };
}

const Health = z.looseObject({
  release: z.object({ version: z.string().nullable(), commit: z.string().nullable() }),
  reserveAddress: z.string().nullable().optional(),
});
const TIMEOUT_MS = 10_000;
const SHORT = 12;

export const releaseText = (version: string | null, commit: string | null): string => {
  const [hash = '', dirty] = (commit ?? '').split('-');
  const short = hash === '' ? 'unknown commit' : `${hash.slice(0, SHORT)}${dirty ? `-${dirty}` : ''}`;
  return `${version ?? 'unknown version'} (${short})`;
};

/** `Target: ORIGIN, release VERSION (COMMIT), reserve ADDRESS`, as the service itself reports them. */
export async function targetLine({ origin, world }: Pick<Target, 'origin' | 'world'>): Promise<string> {
  const where = `Target: ${origin}${world ? ' (offline world)' : ''}`;
  let response: Response;
  try {
    response = await fetch(`${origin}/api/health`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch {
    return `${where}, which does not respond`;
  }
  const health = Health.safeParse(await response.json().catch(() => undefined));
  if (!health.success) return `${where}, which is not a Sluice service (status ${response.status})`;
  const { release, reserveAddress } = health.data;
  return `${where}, release ${releaseText(release.version, release.commit)}, reserve ${reserveAddress ?? 'not set'}`;
}
