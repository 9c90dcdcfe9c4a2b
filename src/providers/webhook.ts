/**
 * The operator's webhook. The URL is a secret, because it is the only credential for a post; no error
 * contains it.
 * @module
 */
import { upstreamFailed } from '../core/errors.ts';
import type { Fetch } from './http.ts';

const TIMEOUT_MS = 5_000;

/** @returns a function that posts one JSON message. @throws AppError UPSTREAM_FAILED */
export const createWebhook =
  ({ url, fetch }: { url: string; fetch: Fetch }) =>
  async (message: unknown): Promise<void> => {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => {
      throw upstreamFailed('alarm-webhook', 'no answer');
    });
    await response.body?.cancel();
    if (!response.ok) throw upstreamFailed('alarm-webhook', `status ${response.status}`);
  };
