import type { Commitment } from '../../src/providers/solana-rpc.ts';
import {
  type AccountState,
  RPC_ERRORS,
  type RpcError,
  type RpcResponse,
  type Shown,
} from './solana-shapes.ts';

/** A transaction that a node has. */
export interface Found extends Shown {
  version(): 'legacy' | number;
  /** The result of `getTransaction`. */
  body(version: 'legacy' | number, encoding: unknown): unknown;
}

/** What one node knows while it responds to one call: the true chain with the node's lag, faults and lies. */
export interface NodeView {
  /** The newest slot at this commitment. */
  slot(commitment: Commitment): number;
  commitmentOf(slot: number): Commitment;
  blockHeight(slot: number): number;
  blockhashAt(slot: number): { readonly blockhash: string; readonly lastValidBlockHeight: number };
  /** Whether a transaction with this blockhash can still land, as that slot sees it. */
  isBlockhashValid(blockhash: string, slot: number): boolean;
  lamports(address: string, slot: number): number | Promise<number>;
  account(address: string, slot: number): AccountState | null | Promise<AccountState | null>;
  /** A transaction in a block up to that slot. */
  transaction(signature: string, slot: number): Found | null;
  /** Transactions up to that slot which name the address, newest first. */
  transactionsOf(address: string, slot: number): readonly Shown[];
  /** False for a node whose statuses have no `confirmations`, as Alpenglow allows. */
  readonly showsConfirmations: boolean;
}

export interface RpcCall<View extends NodeView = NodeView> {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly view: View;
}

export type RpcMethod<View extends NodeView = NodeView> = (call: RpcCall<View>) => Promise<unknown> | unknown;

/** Thrown by a method; becomes the `error` of the response. */
export class RpcFailure extends Error {
  readonly body: RpcError;
  constructor(body: RpcError) {
    super(body.message);
    this.body = body;
  }
}

export const invalidParams = (message: string): RpcFailure =>
  new RpcFailure(RPC_ERRORS.invalidParams(message));

export function textParam({ params }: RpcCall, index: number): string {
  const value = params[index];
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected a string');
  return value;
}

/** The configuration object of a call; absent is empty. */
export function configParam({ params }: RpcCall, index: number): Record<string, unknown> {
  const value = params[index];
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalidParams('Invalid params: expected an object');
  return value as Record<string, unknown>;
}

/** The commitment of a call; like the real nodes, finalized when none is named. */
export function commitmentOf({ commitment }: Record<string, unknown>): Commitment {
  if (commitment === undefined || commitment === null) return 'finalized';
  if (commitment === 'processed' || commitment === 'confirmed' || commitment === 'finalized')
    return commitment;
  throw invalidParams(`Invalid params: unknown variant \`${String(commitment)}\``);
}

/** The slot that this call sees; refused when it is older than its minContextSlot. */
export function slotOf(call: RpcCall, config: Record<string, unknown>): number {
  const slot = call.view.slot(commitmentOf(config));
  if (typeof config.minContextSlot === 'number' && slot < config.minContextSlot)
    throw new RpcFailure(RPC_ERRORS.behind(slot));
  return slot;
}

/** A method of this node. @throws RpcFailure as a node that lacks it */
export function methodOf<View extends NodeView>(
  methods: Readonly<Record<string, RpcMethod<View>>>,
  name: unknown,
): RpcMethod<View> {
  const method = typeof name === 'string' ? methods[name] : undefined;
  if (!method) throw new RpcFailure(RPC_ERRORS.methodNotFound);
  return method;
}

/** The response to a call, without the envelope. */
export async function respond(work: () => Promise<unknown> | unknown): Promise<RpcResponse> {
  try {
    return { result: await work() };
  } catch (error) {
    if (error instanceof RpcFailure) return { error: error.body };
    throw error;
  }
}
