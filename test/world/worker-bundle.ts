import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Bundles the Worker as a deploy would, without deploying it; answers the path of the one module. */
export async function bundleWorker(root: string, outDir: string, logDir: string): Promise<string> {
  const wrangler = createRequire(import.meta.url).resolve('wrangler');
  await run(process.execPath, ['--no-warnings', wrangler, 'deploy', '--dry-run', '--outdir', outDir], {
    cwd: root,
    env: {
      ...process.env,
      WRANGLER_SEND_METRICS: 'false',
      CLOUDFLARE_CF_FETCH_ENABLED: 'false',
      WRANGLER_LOG_PATH: logDir,
      WRANGLER_LOG: 'error',
      CI: '1',
    },
  });
  return join(outDir, 'worker.js');
}
