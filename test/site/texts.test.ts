import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../site/prerender.tsx';
import { createApp, type Deps } from '../../src/app.ts';
import { documentsFor } from '../features/stored-documents.ts';

const ORIGIN = 'https://sluice.example';
const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const MINT = 'So11111111111111111111111111111111111111112';
const appWith = (publicBaseUrl: string, securityContact?: string, operatorName?: string) => {
  const documents = documentsFor(publicBaseUrl);
  const openapi = {
    publicBaseUrl,
    operatorName,
    securityContact,
    documents,
    now: () => NOW,
    listedMints: async () => [MINT],
  };
  return createApp(() => ({ log: () => undefined, openapi }) as Partial<Deps> as Deps);
};
const app = appWith(ORIGIN, 'mailto:security@sluice.example');

describe('/sitemap.xml', () => {
  it('/sitemap.xml lists the pages of the site, the API reference, the changes and the listed tokens', async () => {
    const answer = await app.request('/sitemap.xml');
    expect(answer.headers.get('content-type')).toBe('application/xml');
    const listed = [...(await answer.text()).matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => url);
    const pages = PAGES.map(({ path }) => path).filter((path) => path !== '/404' && path !== '/token');
    expect(listed.sort()).toEqual(
      [...pages, '/docs', '/changes', `/token/${MINT}`].map((path) => `${ORIGIN}${path}`).sort(),
    );
  });

  it("/sitemap.xml uses the request's origin if none is configured", async () => {
    const text = await (await appWith('').request('https://preview.test/sitemap.xml')).text();
    expect(text).toContain('<loc>https://preview.test/reserves</loc>');
  });
});

describe('/.well-known/security.txt', () => {
  it('security.txt names the contact and expires within a year', async () => {
    const answer = await app.request('/.well-known/security.txt');
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; charset=utf-8$/i);
    expect(await answer.text()).toBe(
      `Contact: mailto:security@sluice.example\nExpires: 2027-05-01T00:00:00.000Z\nPreferred-Languages: en\nCanonical: ${ORIGIN}/.well-known/security.txt\n`,
    );
  });

  it('security.txt names the operator in a comment if the operator has a name', async () => {
    const answer = await appWith(ORIGIN, 'https://sluice.example/report', 'Sluice Ltd, Zug').request(
      '/.well-known/security.txt',
    );
    expect(await answer.text()).toMatch(
      /^# Operator: Sluice Ltd, Zug\nContact: https:\/\/sluice\.example\/report\n/,
    );
  });

  it('security.txt names the missing variable if no contact is configured', async () => {
    const answer = await appWith(ORIGIN).request('/.well-known/security.txt');
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({
      error_code: 'NOT_CONFIGURED',
      details: { variables: ['SECURITY_CONTACT'] },
    });
  });
});

it('/favicon.ico contains the icon of 32 pixels', () => {
  const ico = readFileSync('site/public/favicon.ico');
  const png = readFileSync('site/public/icon-32.png');
  expect([...ico.subarray(0, 8)]).toEqual([0, 0, 1, 0, 1, 0, 32, 32]);
  expect([ico.readUInt32LE(14), ico.readUInt32LE(18)]).toEqual([png.length, 22]);
  expect(ico.subarray(22).equals(png)).toBe(true);
});
