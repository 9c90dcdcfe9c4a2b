/**
 * What a tool says when it fails: the code of the API's own error, and the next step in words that a model can follow.
 * @module
 */
import type { ErrorAction } from '../core/errors.ts';

export type Failure = {
  readonly error_code: string;
  readonly error: string;
  readonly action: string;
  /** What to do now, in one or two sentences. */
  readonly next_step: string;
  readonly retryable: boolean;
  readonly retry_after_s?: number;
  readonly request_id?: string;
  readonly details?: unknown;
  /** Of a creation whose outcome may be asked for again. */
  readonly idempotencyKey?: string;
};

const NEXT_STEPS: Record<ErrorAction, string> = {
  fix_request: 'Correct the argument that the error names and call the tool again.',
  check_id: 'Check the id: it is the value of `id` that swap_create answered, and nothing else.',
  retry_later:
    'Nothing was lost. Wait for retry_after_s seconds (30 if it is absent), then make the same call.',
  retry_with_new_key:
    'This call moved nothing. Call again without idempotencyKey, so that a new key is made.',
  top_up_wallet: 'The reserve holds too little SOL. Use a smaller amount, or tell the operator to top it up.',
  poll_status: 'Call swap_status with the id instead of creating again.',
  contact_operator: 'The operator of the service must act. Tell the user what the error says; do not retry.',
  report_request_id:
    'Tell the user the request_id, so that the operator can find the cause. Do not retry at once.',
};

/** Further actions may be added by a newer service: its own words are the best advice then. */
export const nextStep = (action: string): string =>
  (NEXT_STEPS as Readonly<Record<string, string>>)[action] ?? `The service advises: ${action}.`;

/** Thrown by a tool; shown to the model as an `isError` result. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.error);
    this.failure = failure;
  }
}

/** Arguments that cannot be sent. @param repair how to make them right */
export const invalidArguments = (error: string, repair: string): ToolFailure =>
  new ToolFailure({
    error_code: 'INVALID_ARGUMENTS',
    error,
    action: 'fix_request',
    next_step: repair,
    retryable: false,
  });
