import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Bundles a Worker as a deployment would, without deploying it; the build of wrangler.toml also builds the
 * site. @returns the path of its one module
 */
export async function bundleWorker(
  root: string,
  outDir: string,
  tempDir: string,
  config = 'wrangler.toml',
): Promise<string> {
  const wrangler = createRequire(import.meta.url).resolve('wrangler');
  const args = ['deploy', '--dry-run', '--env=', '--config', config, '--outdir', outDir];
  await run(process.execPath, ['--no-warnings', wrangler, ...args], {
    cwd: root,
    env: {
      ...process.env,
      SECRETS_CHECKED: 'not-deployed',
      SITE_DEMONSTRATION: '1',
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_LOG_PATH: join(tempDir, 'logs'),
      WRANGLER_LOG: 'error',
      // The banner queries the registry for a newer version.
      WRANGLER_HIDE_BANNER: 'true',
      TMPDIR: tempDir,
      // Wrangler stores its registry of workers there, and fails if it cannot.
      HOME: tempDir,
      XDG_CONFIG_HOME: tempDir,
    },
  });
  return join(outDir, 'worker.js');
}
