/** Ends a call that never ends after a moment instead of `ms`; every other call of a test has ended by then. */
export const endingSoon = <T>(work: Promise<T>, _ms: number): Promise<T | undefined> =>
  Promise.race([work, new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 100))]);
