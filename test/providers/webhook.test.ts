import { expect, it } from 'vitest';
import { createWebhook } from '../../src/providers/webhook.ts';

const URL_WITH_TOKEN = 'https://hooks.test/services/T0/secret-token';

it('posts one JSON message', async () => {
  const sent: { url: string; init: RequestInit | undefined }[] = [];
  const notify = createWebhook({
    url: URL_WITH_TOKEN,
    fetch: async (url, init) => {
      sent.push({ url: String(url), init });
      return new Response('ok');
    },
  });
  await notify({ text: 'hello' });
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ url: URL_WITH_TOKEN, init: { method: 'POST', body: '{"text":"hello"}' } });
});

it.each([
  ['a refusal', async () => new Response('no', { status: 403 })],
  ['a redirect', async () => new Response(null, { status: 302, headers: { location: 'https://evil.test' } })],
  ['no answer', async () => Promise.reject(new Error(`cannot reach ${URL_WITH_TOKEN}`))],
])('%s is an error that does not show the URL', async (_what, fetch) => {
  const failed = createWebhook({ url: URL_WITH_TOKEN, fetch })({ text: 'x' });
  await expect(failed).rejects.toMatchObject({ code: 'UPSTREAM_FAILED' });
  await failed.catch((error: Error) =>
    expect(`${error.message}${error.stack}${error.cause}`).not.toContain('secret-token'),
  );
});
