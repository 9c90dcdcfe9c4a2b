/**
 * Runs a share of a script's work in a separate thread of the same script.
 * @module
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/** @param script `import.meta.url` of the caller. Rejects when the thread fails or ends without a result. */
export const inThread = <Share, Result>(script: string, share: Share): Promise<Result> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(script), { workerData: share, argv: [] });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread ended with ${code} and no result`)));
  });

/** Runs `main` in the main thread, and `work` on its share in a thread started by `inThread`. */
export async function runShared<Share>(
  main: () => Promise<void>,
  work: (share: Share) => Promise<unknown>,
): Promise<void> {
  if (isMainThread) await main();
  else parentPort?.postMessage(await work(workerData));
}
