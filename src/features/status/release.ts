/**
 * The release that is running: the build's data in the site's `build.json`, and the platform's metadata of
 * the deployed version.
 * @module
 */
import * as z from 'zod';

export type Release = {
  /** From package.json. */
  readonly version: string | null;
  /** From git, with `-dirty` if files had been changed; null when built outside a repository. */
  readonly commit: string | null;
  /** Id of the Worker's version, for `wrangler rollback`. */
  readonly id: string | null;
  /** When that version was uploaded, ISO 8601. */
  readonly deployedAt: string | null;
};

const Build = z.object({ version: z.string(), commit: z.string().nullable() });

type Sources = {
  readonly assets: Pick<Fetcher, 'fetch'>;
  readonly metadata: Pick<WorkerVersionMetadata, 'id' | 'timestamp'> | undefined;
};

/**
 * A function that reads the release once and caches it; an unreadable file gives null, and the next call
 * retries.
 */
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
