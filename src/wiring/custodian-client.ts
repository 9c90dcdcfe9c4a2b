import { AppError, notConfigured } from '../core/errors.ts';
import {
  AsryEpochView,
  type Busy,
  type ClaimAnswer,
  type ClaimRequest,
  ClaimView,
  type ConfirmRequest,
  CUSTODIAN_NAME,
  type CustodianApi,
  type CustodianRpc,
  type EstimateRequest,
  type NotConfigured,
  type NotCustodian,
  type OpenRequest,
  RequestView,
  SwapQuoted,
  type SwapRequest,
  SwapRoom,
  SwapView,
} from '../custody/api.ts';
import { CustodyReport, type OpsCommand } from '../custody/operator-api.ts';
import { noteCausedRows } from '../http/read-session.ts';
import { within } from '../http/within.ts';
import type { Line } from './telemetry.ts';

/** Longest wait for the state of the object. It verifies its journal for at most two seconds first. */
const STATE_MS = 8_000;
/** Longer than the timeout of a call to a node, so that one node that hangs does not hide the others. */
const PROBE_MS = 12_000;

const isNotConfigured = (result: unknown): result is NotConfigured =>
  typeof result === 'object' && result !== null && 'notConfigured' in result;

type Result<T> = T | NotConfigured | NotCustodian | Busy;

const isBusy = (result: unknown): result is Busy =>
  typeof result === 'object' && result !== null && 'busy' in result;

const isNotCustodian = (result: unknown): result is NotCustodian =>
  typeof result === 'object' && result !== null && 'notCustodian' in result;

/** During a deployment the object may run the previous release. Members that its request lacks get their defaults. */
const withDefaults = <T extends { readonly type: string }>(answer: T): T =>
  'request' in answer ? { ...answer, request: RequestView.parse(answer.request) } : answer;

const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('CUSTODIAN_UNAVAILABLE', message, { retryAfterSeconds: 5, cause });

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
 * required setting is missing
 */
export class CustodianClient implements CustodianApi {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  async createSwap(request: SwapRequest) {
    const answer = await this.#change((stub) => stub.createSwap(request));
    return answer.type === 'created' ? { ...answer, swap: SwapView.parse(answer.swap) } : answer;
  }
  async estimateSwap(request: EstimateRequest) {
    const answer = await this.#call((stub) => stub.estimateSwap(request));
    return answer.type === 'quoted' ? SwapQuoted.parse(answer) : answer;
  }
  async findSwap(signature: string) {
    const found = await this.#call((stub) => stub.findSwap(signature));
    return found && SwapView.parse(found);
  }
  async swapRoom() {
    return SwapRoom.parse(await this.#call((stub) => stub.swapRoom()));
  }
  async report() {
    return CustodyReport.parse(await this.#ask((stub) => stub.report()));
  }
  operatorView() {
    return this.#ask((stub) => stub.operatorView());
  }
  probeNodes() {
    return this.#ask((stub) => stub.probeNodes(), PROBE_MS);
  }
  signingState() {
    return this.#ask((stub) => stub.signingState());
  }
  async openRequest(request: OpenRequest) {
    return withDefaults(await this.#change((stub) => stub.openRequest(request)));
  }
  async findRequest(id: string) {
    const found = await this.#call((stub) => stub.findRequest(id));
    return found && RequestView.parse(found);
  }
  async confirmPayment(request: ConfirmRequest) {
    return withDefaults(await this.#change((stub) => stub.confirmPayment(request)));
  }
  proof() {
    return this.#call((stub) => stub.proof());
  }
  draftProof() {
    return this.#call((stub) => stub.draftProof());
  }
  submitProof(signature: string) {
    return this.#call((stub) => stub.submitProof(signature));
  }
  previewMint() {
    return this.#call((stub) => stub.previewMint());
  }
  listMints(limit: number) {
    return this.#call((stub) => stub.listMints(limit));
  }
  wake() {
    return this.#call((stub) => stub.wake());
  }
  async claimDeposit(request: ClaimRequest): Promise<ClaimAnswer> {
    const answer = await this.#change((stub) => stub.claimDeposit(request));
    return answer.claim ? { ...answer, claim: ClaimView.parse(answer.claim) } : answer;
  }
  async findClaim(signature: string) {
    const found = await this.#call((stub) => stub.findClaim(signature));
    return found && ClaimView.parse(found);
  }
  async listAsryEpochs(limit: number) {
    const epochs = await this.#call((stub) => stub.listAsryEpochs(limit));
    return epochs.map((epoch) => AsryEpochView.parse(epoch));
  }
  ops(command: OpsCommand) {
    return this.#call((stub) => stub.ops(command));
  }

  /** Makes a call that says how the object is. An object that hangs must not hang the alarms. */
  async #ask<T>(verb: (stub: CustodianRpc) => Promise<Result<T>>, waitMs = STATE_MS): Promise<T> {
    const answer = await within(this.#call(verb), waitMs);
    if (answer === undefined) throw unavailable('The custodian does not respond in time.');
    return answer;
  }

  /** Makes a call that changes rows. The response gets a D1 bookmark, so that the caller's next read sees it. */
  async #change<T>(verb: (stub: CustodianRpc) => Promise<Result<T>>): Promise<T> {
    const result = await this.#call(verb);
    noteCausedRows();
    return result;
  }

  async #call<T>(verb: (stub: CustodianRpc) => Promise<Result<T>>): Promise<T> {
    const { env, location, missing, log } = this.#options;
    if (missing.length > 0) throw notConfigured(missing);
    let result: Result<T>;
    try {
      result = await verb(env.CUSTODIAN.getByName(CUSTODIAN_NAME, { locationHint: location }));
    } catch (cause) {
      log({ level: 'error', event: 'custodian_failed', error: String(cause).slice(0, 200) });
      throw unavailable('The custodian does not respond.', cause);
    }
    if (isNotCustodian(result)) throw unavailable('The object that was called is not the custodian.');
    if (isBusy(result)) throw unavailable('The custodian already serves as many reads as it can.');
    if (isNotConfigured(result)) throw notConfigured(result.notConfigured);
    return result;
  }
}
