/**
 * Requests and responses of the service on the offline world, recorded by `npm run examples`. Never edited by
 * hand.
 * @module
 */
import recorded from './examples.json' with { type: 'json' };

export type Examples = Readonly<Record<string, OperationExample>>;

type OperationExample = {
  /** The successful request. */
  readonly request?: {
    /** With its query and parameter values. */
    readonly path: string;
    readonly body?: unknown;
  };
  readonly responses: readonly {
    readonly status: number;
    /** The error code; `ok`, `dry_run`, or `passed_on` for an upstream's own text. */
    readonly name: string;
    readonly body: unknown;
  }[];
};

export const EXAMPLES: Examples = recorded;
