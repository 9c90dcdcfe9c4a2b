/**
 * Which release answers: what the build wrote into `build.json` of the site, and what the platform knows of the
 * deployed version.
 * @module
 */
import * as z from 'zod';

export type Release = {
  /** Of package.json. */
  readonly version: string | null;
  /** Of git, with `-dirty` when files differed from it; null when it was built outside a repository. */
  readonly commit: string | null;
  /** Id of the Worker's version, as `wrangler rollback` takes it. */
  readonly id: string | null;
  /** When that version was uploaded, ISO 8601. */
  readonly deployedAt: string | null;
};

const Build = z.object({ version: z.string(), commit: z.string().nullable() });

type Sources = {
  readonly assets: Pick<Fetcher, 'fetch'>;
  readonly metadata: Pick<WorkerVersionMetadata, 'id' | 'timestamp'> | undefined;
};

/** A function that reads the release once and keeps it; a file that cannot be read gives null, and the next call retries. */
export function releaseReader({ assets, metadata }: Sources): () => Promise<Release> {
  let kept: Promise<Release> | undefined;
  const read = async (): Promise<Release> => {
    const response = await assets.fetch('https://assets/build.json');
    const { version, commit } = Build.parse(await response.json());
    return { version, commit, ...deployed };
  };
  const deployed = { id: metadata?.id || null, deployedAt: metadata?.timestamp || null };
  return () => {
    kept ??= read().catch(() => {
      kept = undefined;
      return { version: null, commit: null, ...deployed };
    });
    return kept;
  };
}
