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
  /** Bodies with status 200; left out if they are not JSON objects or are too long. */
  readonly responses: { readonly ok?: unknown };
};

export const EXAMPLES: Examples = recorded;
