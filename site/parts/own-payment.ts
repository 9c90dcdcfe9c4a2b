/**
 * What this browser knows of its payment for an order, and the orders that it has opened. Kept in the browser, so
 * that a reload, a closed tab or a second tab never asks to pay again.
 * @module
 */
import { readStored, store, useStored } from '../api/stored.ts';

/** `asked`: a wallet was asked to pay. `sent`: it returned the signature. */
export type OwnPayment = {
  readonly step: 'asked' | 'sent';
  /** Empty while the wallet has not returned it. */
  readonly signature: string;
  /** Unix milliseconds of the step. */
  readonly at: number;
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function readPayment(value: unknown): OwnPayment | null {
  if (!isRecord(value)) return null;
  const { step, signature, at } = value;
  if ((step !== 'asked' && step !== 'sent') || typeof signature !== 'string' || typeof at !== 'number')
    return null;
  return { step, signature, at };
}

const paymentName = (orderId: string): string => `payment:${orderId}`;

export const useOwnPayment = (orderId: string): OwnPayment | null =>
  useStored(paymentName(orderId), readPayment);

export const noteAsked = (orderId: string): void =>
  store(paymentName(orderId), { step: 'asked', signature: '', at: Date.now() });
export const noteSent = (orderId: string, signature: string): void =>
  store(paymentName(orderId), { step: 'sent', signature, at: Date.now() });
/** The payment did not happen, or its order has ended. */
export const forgetPayment = (orderId: string): void => store(paymentName(orderId), null);

/**
 * A transaction lands within about a minute or never. After this time one that no node shows has expired.
 */
export const LANDS_WITHIN_MS = 3 * 60_000;

/** An order whose page can be opened again. */
export type OpenOrder = { readonly id: string; readonly name: string; readonly at: number };

const ORDER = 'order';
/** An unpaid order expires after half an hour; a paid one may need the operator. */
const ORDER_LIFE_MS = 24 * 3_600_000;

function readOrder(value: unknown): OpenOrder | null {
  if (!isRecord(value)) return null;
  const { id, name, at } = value;
  if (typeof id !== 'string' || typeof name !== 'string' || typeof at !== 'number') return null;
  return Date.now() - at < ORDER_LIFE_MS ? { id, name, at } : null;
}

/** The last order of this browser that has not ended. */
export const useOpenOrder = (): OpenOrder | null => useStored(ORDER, readOrder);

export const noteOrder = (id: string, name: string): void => store(ORDER, { id, name, at: Date.now() });

export function forgetOrder(id: string): void {
  if (readStored(ORDER, readOrder)?.id === id) store(ORDER, null);
}
