import type { Commitment } from './solana-clock.ts';
import type { LandedTransaction, SolanaLedger } from './solana-ledger.ts';
import type { RpcError } from './surfpool.ts';

/** One JSON-RPC call at a server, with the server's lag behind the chain. */
export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly ledger: SolanaLedger;
  /** Slots by which this server is behind. */
  readonly lag: number;
  /** The version in which this server presents a transaction. */
  versionOf(transaction: LandedTransaction): 'legacy' | number;
  /** False for a server whose statuses have no `confirmations`, as Alpenglow allows. */
  readonly showsConfirmations: boolean;
  /** Whether this server hides a signature. */
  hides(signature: string): boolean;
}

export type RpcMethod = (call: RpcCall) => Promise<unknown> | unknown;

/** Thrown by a method; becomes the `error` of the response. */
export class RpcFailure extends Error {
  readonly body: RpcError;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.body = data === undefined ? { code, message } : { code, message, data };
  }
}

export const invalidParams = (message: string): RpcFailure => new RpcFailure(-32602, message);

export function textParam(call: RpcCall, index: number): string {
  const value = call.params[index];
  if (typeof value !== 'string') throw invalidParams('Invalid params: expected a string');
  return value;
}

/** The configuration object of a call; absent is empty. */
export function configParam(call: RpcCall, index: number): Record<string, unknown> {
  const value = call.params[index];
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw invalidParams('Invalid params: expected an object');
  return value as Record<string, unknown>;
}

/** The commitment of a call; like the real nodes, finalized when none is named. */
export function commitmentOf(config: Record<string, unknown>): Commitment {
  const { commitment } = config;
  if (commitment === undefined || commitment === null) return 'finalized';
  if (commitment === 'processed' || commitment === 'confirmed' || commitment === 'finalized')
    return commitment;
  throw invalidParams(`Invalid params: unknown variant \`${String(commitment)}\``);
}

/** The slot that this call sees; refused when it is older than its minContextSlot. */
export function slotOf(call: RpcCall, config: Record<string, unknown>): number {
  const slot = call.ledger.clock.slot(commitmentOf(config), call.lag);
  if (typeof config.minContextSlot === 'number' && slot < config.minContextSlot)
    throw new RpcFailure(-32016, 'Minimum context slot has not been reached', { contextSlot: slot });
  return slot;
}

export const withContext = (slot: number, value: unknown): unknown => ({
  context: { apiVersion: '4.1.2', slot },
  value,
});
