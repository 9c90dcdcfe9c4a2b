import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Bundles the Worker as a deploy would, without deploying it; answers the path of the one module. */
export async function bundleWorker(root: string, outDir: string, tempDir: string): Promise<string> {
  const wrangler = createRequire(import.meta.url).resolve('wrangler');
  await run(process.execPath, ['--no-warnings', wrangler, 'deploy', '--dry-run', '--outdir', outDir], {
    cwd: root,
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_LOG_PATH: join(tempDir, 'logs'),
      WRANGLER_LOG: 'error',
      // The banner is what asks the registry for a newer version.
      WRANGLER_HIDE_BANNER: 'true',
      TMPDIR: tempDir,
    },
  });
  return join(outDir, 'worker.js');
}
