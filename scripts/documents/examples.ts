/**
 * Requests and answers as the service really gave them on the offline world, recorded by `npm run examples`. Nothing
 * here is written by hand.
 * @module
 */
import recorded from './examples.json' with { type: 'json' };

export type Examples = Readonly<Record<string, OperationExample>>;

type OperationExample = {
  /** The request that was answered with success. */
  readonly request?: {
    /** With its query; parameters are filled in. */
    readonly path: string;
    readonly body?: unknown;
  };
  readonly responses: readonly {
    readonly status: number;
    /** The error code; `ok`, `dry_run`, or `passed_on` for an upstream's own words. */
    readonly name: string;
    readonly body: unknown;
  }[];
};

export const EXAMPLES: Examples = recorded;
