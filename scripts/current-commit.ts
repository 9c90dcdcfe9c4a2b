import { execFileSync } from 'node:child_process';
import { orUndefined } from '../src/core/or-undefined.ts';

const git = (...args: string[]): string =>
  execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** The checked-out commit, with `-dirty` if tracked files were changed; null outside a git repository. */
export const currentCommit = (): string | null =>
  orUndefined(() => {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', 'HEAD')}${changed ? '-dirty' : ''}`;
  }) ?? null;
