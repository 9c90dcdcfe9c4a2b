/**
 * Runs a share of a script's work in a separate thread of the same script.
 * @module
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

type Message<Result, Part> = { readonly part: Part } | { readonly result: Result };

/**
 * @param script `import.meta.url` of the caller
 * @param onPart receives each part that the thread reports. Rejects when the thread fails or ends without a result.
 */
export const inThread = <Share, Result, Part = never>(
  script: string,
  share: Share,
  onPart: (part: Part) => void = () => undefined,
): Promise<Result> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(fileURLToPath(script), { workerData: share, argv: [] });
    worker.on('message', (message: Message<Result, Part>) => {
      if ('part' in message) onPart(message.part);
      else resolve(message.result);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread ended with ${code} and no result`)));
  });

/** Runs `main` in the main thread, and `work` on its share in a thread started by `inThread`. */
export async function runShared<Share, Part = never>(
  main: () => Promise<void>,
  work: (share: Share, report: (part: Part) => void) => Promise<unknown>,
): Promise<void> {
  if (isMainThread) return main();
  const result = await work(workerData, (part) => parentPort?.postMessage({ part }));
  parentPort?.postMessage({ result });
}
