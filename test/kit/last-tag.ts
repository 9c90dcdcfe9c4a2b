import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The tag of the last release; undefined before the first one. */
function lastTag(repository: string): string | undefined {
  try {
    const args = ['describe', '--tags', '--abbrev=0', '--match', 'v*'];
    return execFileSync('git', args, { cwd: repository, stdio: 'pipe' }).toString().trim();
  } catch {
    return undefined;
  }
}

/**
 * Extracts the source of the last tag, or the committed source before the first tag, with the packages of its lock file.
 * @returns the folder
 */
export function checkOutLastTag(folder: string, repository = '.'): string {
  mkdirSync(folder, { recursive: true });
  const options = { cwd: repository, maxBuffer: 1 << 30 };
  const archive = execFileSync('git', ['archive', lastTag(repository) ?? 'HEAD'], options);
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'));
  if (lock(folder).equals(lock(repository)))
    symlinkSync(resolve(repository, 'node_modules'), join(folder, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
  return folder;
}
