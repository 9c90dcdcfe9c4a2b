/**
 * The operator's webhook. The URL is a secret, because it is the only credential for a post; no error
 * contains it.
 * @module
 */
import { upstreamFailed } from '../core/errors.ts';
import { ask, type Fetch } from './http.ts';

const UPSTREAM = 'alarm-webhook';
const TIMEOUT_MS = 5_000;
/** Maximum characters of a message; Discord refuses a longer one. */
const DISCORD_LENGTH = 2_000;

/** Slack and Discord show one string and ignore or refuse other members. Any other receiver gets the whole message. */
function formOf(host: string, message: { readonly text: string }): unknown {
  if (host === 'slack.com' || host.endsWith('.slack.com')) return { text: message.text };
  if (/(^|\.)discord(app)?\.com$/.test(host))
    return { content: message.text.slice(0, DISCORD_LENGTH), allowed_mentions: { parse: [] } };
  return message;
}

/** @returns a function that posts one message in the receiver's form. @throws AppError UPSTREAM_FAILED */
export const createWebhook =
  ({ url, fetch }: { url: string; fetch: Fetch }) =>
  async (message: { readonly text: string }): Promise<void> => {
    const body = formOf(new URL(url).hostname, message);
    const { status } = await ask({
      fetch,
      upstream: UPSTREAM,
      url,
      method: 'POST',
      body,
      timeoutMs: TIMEOUT_MS,
    });
    if (status < 200 || status > 299) throw upstreamFailed(UPSTREAM, `status_${status}`);
  };
