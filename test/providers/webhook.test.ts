import { expect, it } from 'vitest';
import { createWebhook } from '../../src/providers/webhook.ts';

const message = { text: `Sluice\n${'x'.repeat(3_000)}`, alarms: [] };

it.each([
  ['https://hooks.slack.com/services/T/B/x', { text: message.text }],
  [
    'https://discord.com/api/webhooks/1/x',
    { content: message.text.slice(0, 2_000), allowed_mentions: { parse: [] } },
  ],
  ['https://discordapp.com/api/webhooks/1/x', expect.objectContaining({ content: expect.any(String) })],
  ['https://slack.com.example.org/x', message],
  ['https://alarms.example.org/x', message],
])('posts to %s in the form that its host accepts', async (url, form) => {
  const posted: unknown[] = [];
  await createWebhook({
    url,
    fetch: async (_url, init) => {
      posted.push(JSON.parse(String(init?.body)));
      return new Response(null, { status: 204 });
    },
  })(message);
  expect(posted).toEqual([form]);
});

it.each([
  ['does not respond', () => Promise.reject(new Error('https://hooks.slack.com/services/secret'))],
  ['refuses', async () => new Response('no', { status: 404 })],
])('throws an error that does not contain the URL if the receiver %s', async (_what, fetch) => {
  const post = createWebhook({ url: 'https://hooks.slack.com/services/secret', fetch });
  const error = await post(message).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'UPSTREAM_FAILED' });
  expect(JSON.stringify(error)).not.toContain('secret');
});
