import * as z from 'zod';
import { AppError, notConfigured, refusalError } from '../core/errors.ts';
import {
  AsryEpochView,
  ClaimAnswer,
  type ClaimRequest,
  ClaimView,
  type ConfirmRequest,
  CUSTODIAN_NAME,
  type CustodianApi,
  type CustodianRpc,
  type EstimateRequest,
  type NotServed,
  type OpenRequest,
  PaymentConfirmed,
  ProofAnswer,
  ProofDraft,
  RequestOpened,
  RequestView,
  SwapAnswer,
  SwapEstimate,
  type SwapRequest,
  SwapRoom,
  SwapView,
} from '../custody/api.ts';
import {
  CustodyReport,
  MintPreview,
  MintRow,
  NodeProbe,
  OperatorView,
  OpsAnswer,
  type OpsCommand,
  SigningState,
} from '../custody/operator-api.ts';
import { noteCausedRows } from '../http/read-session.ts';
import { within } from '../http/within.ts';
import type { Line } from './telemetry.ts';

/** Longest wait for a call about the object's state. The object first verifies its journal for at most two seconds. */
const STATE_MS = 8_000;
/**
 * Longest wait for a probe of the nodes. It is longer than the timeout of a call to a node, so that one hanging node
 * does not hide the others.
 */
const PROBE_MS = 12_000;

const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('CUSTODIAN_UNAVAILABLE', message, { retryAfterSeconds: 5, cause });

const isNotServed = (result: unknown): result is NotServed =>
  typeof result === 'object' &&
  result !== null &&
  ['failed', 'notCustodian', 'busy'].some((member) => member in result);

function errorOf(result: NotServed): AppError {
  if ('failed' in result) return refusalError(result.failed);
  return unavailable(
    'busy' in result
      ? 'The custodian already serves as many reads as it can.'
      : 'The object that was called is not the custodian.',
  );
}

type Shape<T> = z.ZodType<T>;
type Verb = (stub: CustodianRpc) => Promise<unknown>;

type Options = {
  readonly env: Pick<Env, 'CUSTODIAN'>;
  /** Where the first call creates the object; later calls do not move it. */
  readonly location?: DurableObjectLocationHint | undefined;
  /** Settings without which the custodian does not start. */
  readonly missing: readonly string[];
  readonly log: (line: Line) => void;
};

/**
 * Calls the custodian's Durable Object.
 * @throws AppError CUSTODIAN_UNAVAILABLE when a call fails and may still have taken effect; NOT_CONFIGURED when a
 * required setting is missing; what the custodian has thrown, such as UPSTREAM_FAILED
 */
export class CustodianClient implements CustodianApi {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  createSwap(request: SwapRequest) {
    return this.#change(SwapAnswer, (stub) => stub.createSwap(request));
  }
  estimateSwap(request: EstimateRequest) {
    return this.#call(SwapEstimate, (stub) => stub.estimateSwap(request));
  }
  findSwap(signature: string) {
    return this.#call(SwapView.nullable(), (stub) => stub.findSwap(signature));
  }
  swapRoom() {
    return this.#call(SwapRoom, (stub) => stub.swapRoom());
  }
  report() {
    return this.#ask(CustodyReport, (stub) => stub.report());
  }
  operatorView() {
    return this.#ask(OperatorView, (stub) => stub.operatorView());
  }
  probeNodes() {
    return this.#ask(z.array(NodeProbe), (stub) => stub.probeNodes(), PROBE_MS);
  }
  signingState() {
    return this.#ask(SigningState, (stub) => stub.signingState());
  }
  openRequest(request: OpenRequest) {
    return this.#change(RequestOpened, (stub) => stub.openRequest(request));
  }
  findRequest(id: string) {
    return this.#call(RequestView.nullable(), (stub) => stub.findRequest(id));
  }
  confirmPayment(request: ConfirmRequest) {
    return this.#change(PaymentConfirmed, (stub) => stub.confirmPayment(request));
  }
  proof() {
    return this.#call(ProofAnswer, (stub) => stub.proof());
  }
  draftProof() {
    return this.#call(ProofDraft, (stub) => stub.draftProof());
  }
  submitProof(signature: string) {
    return this.#call(ProofAnswer, (stub) => stub.submitProof(signature));
  }
  previewMint() {
    return this.#call(MintPreview, (stub) => stub.previewMint());
  }
  listMints(limit: number) {
    return this.#call(z.array(MintRow), (stub) => stub.listMints(limit));
  }
  wake() {
    return this.#call(z.void(), (stub) => stub.wake());
  }
  claimDeposit(request: ClaimRequest) {
    return this.#change(ClaimAnswer, (stub) => stub.claimDeposit(request));
  }
  findClaim(signature: string) {
    return this.#call(ClaimView.nullable(), (stub) => stub.findClaim(signature));
  }
  listAsryEpochs(limit: number) {
    return this.#call(z.array(AsryEpochView), (stub) => stub.listAsryEpochs(limit));
  }
  ops(command: OpsCommand) {
    return this.#call(OpsAnswer, (stub) => stub.ops(command));
  }

  /**
   * Makes a call that reads the object's state. Its wait is limited, because a hanging object must not delay the
   * alarms.
   */
  async #ask<T>(shape: Shape<T>, verb: Verb, waitMs = STATE_MS): Promise<T> {
    const answer = await within(this.#call(shape, verb), waitMs);
    if (answer === undefined) throw unavailable('The custodian does not respond in time.');
    return answer;
  }

  /** Makes a call that changes rows. The response gets a D1 bookmark, so that the caller's next read sees it. */
  async #change<T>(shape: Shape<T>, verb: Verb): Promise<T> {
    const result = await this.#call(shape, verb);
    noteCausedRows();
    return result;
  }

  /**
   * During a deployment the object may run the previous release, whose result lacks new members. The shape gives each of
   * them its default.
   */
  async #call<T>(shape: Shape<T>, verb: Verb): Promise<T> {
    const { env, location, missing, log } = this.#options;
    if (missing.length > 0) throw notConfigured(missing);
    const failed = (message: string, cause: unknown): AppError => {
      log({ level: 'error', event: 'custodian_failed', error: String(cause).slice(0, 200) });
      return unavailable(message, cause);
    };
    let result: unknown;
    try {
      result = await verb(env.CUSTODIAN.getByName(CUSTODIAN_NAME, { locationHint: location }));
    } catch (cause) {
      throw failed('The custodian does not respond.', cause);
    }
    if (isNotServed(result)) throw errorOf(result);
    const read = shape.safeParse(result);
    if (!read.success) throw failed('The custodian runs another release.', read.error);
    return read.data;
  }
}
