/**
 * Runs a share of a script's work in a separate thread.
 * @module
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

/**
 * @param script     URL of a script that calls `runShared`
 * @param patienceMs ends a thread that hangs
 * @throws when the thread fails or ends without a result
 */
export const inThread = <Share, Result>(
  script: string,
  share: Share,
  patienceMs = Number.POSITIVE_INFINITY,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(script), { workerData: share, argv: [] });
    const timer = Number.isFinite(patienceMs) ? setTimeout(() => worker.terminate(), patienceMs) : undefined;
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`the thread ended with ${code} and no result`));
    });
  });

/** Runs `main` in the main thread, and `work` on its share in a thread started by `inThread`. */
export async function runShared<Share>(
  main: () => Promise<void>,
  work: (share: Share) => Promise<unknown>,
): Promise<void> {
  if (isMainThread) return main();
  const result = await work(workerData);
  parentPort?.postMessage(result);
}
