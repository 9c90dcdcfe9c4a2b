/** One piece of work for all who ask for it at the same time, by name. */
export function createSharedWork() {
  const shared = new Map<string, Promise<unknown>>();
  return function once<T>(name: string, work: () => Promise<T>): Promise<T> {
    const running = shared.get(name) as Promise<T> | undefined;
    if (running) return running;
    const started = work().finally(() => shared.delete(name));
    shared.set(name, started);
    return started;
  };
}
