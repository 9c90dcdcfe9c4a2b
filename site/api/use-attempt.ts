/**
 * An action that a visitor starts on a page, one step at a time: its running step and its last failure.
 * @module
 */
import { useState } from 'hono/jsx';
import { type Failure, failureFrom } from './call.ts';

export type Attempts<Step extends string> = {
  readonly busy: Step | null;
  readonly failure: Failure | null;
  /** Returns the failure, or null on success. Never throws. */
  attempt(step: Step, run: () => Promise<void>): Promise<Failure | null>;
};

export function useAttempt<Step extends string>(): Attempts<Step> {
  const [busy, setBusy] = useState<Step | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  return {
    busy,
    failure,
    async attempt(step, run) {
      setBusy(step);
      setFailure(null);
      let failed: Failure | null = null;
      try {
        await run();
      } catch (thrown) {
        failed = failureFrom(thrown);
        setFailure(failed);
      }
      setBusy(null);
      return failed;
    },
  };
}
