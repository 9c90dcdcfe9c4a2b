/**
 * A tool's failure: the code of the API's error, and the next step in words that a model can follow.
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
  /** Seconds. */
  readonly retry_after_s?: number;
  readonly request_id?: string;
  readonly details?: unknown;
  /** Key of a creation whose outcome is not known yet; a repeat with it returns that outcome. */
  readonly idempotencyKey?: string;
};

const NEXT_STEPS: Record<ErrorAction, string> = {
  fix_request: 'Correct the argument named in the error and call the tool again.',
  check_id: 'Check the id: use the exact value from the answer of the creating call.',
  retry_later:
    'Nothing was lost. Wait for retry_after_s seconds (30 if it is absent), then make the same call.',
  retry_with_same_key:
    'The first call with this idempotencyKey is still running. Wait for retry_after_s seconds, then make the same call with it.',
  retry_with_new_key:
    'This call moved nothing. Call again without idempotencyKey, so that a new key is made.',
  top_up_wallet: 'The reserve has too little SOL. Use a smaller amount, or tell the operator to add SOL.',
  poll_status:
    'Do not create again. Read the state of the existing record: details has it, or call the status tool.',
  pay_missing_amount: 'Tell the user to pay details.missingLamports to the same reference.',
  use_another_deposit: 'Tell the user that this deposit earns nothing; another one is needed.',
  none: 'Nothing needs to be done.',
  contact_operator: "The service's operator must act. Show the error to the user; do not retry.",
  report_request_id:
    'Tell the user the request_id, so that the operator can find the cause. Do not retry at once.',
};

/** A newer service may add actions; those are passed on by name. */
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

/** Arguments that cannot be sent. @param repair how to correct them */
export const invalidArguments = (error: string, repair: string): ToolFailure =>
  new ToolFailure({
    error_code: 'INVALID_ARGUMENTS',
    error,
    action: 'fix_request',
    next_step: repair,
    retryable: false,
  });
