import { expect, it } from 'vitest';
import { toolCallOf, valuesIn } from '../../site/build/call-examples.ts';
import {
  matching,
  namedHits,
  noMatchText,
  ownHits,
  PAGE_HITS,
  tokenHit,
} from '../../site/parts/search-hits.ts';
import { exampleOf } from '../kit/example.ts';
import { eachScene } from '../kit/scenes.ts';

const SOLANA = 'So11111111111111111111111111111111111111112';
const own = {
  bitcoin: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  solana: SOLANA,
  treasury: null,
  absrMint: '7kLh5EwWsfm18XUodfmF2ABJnQJRxJPxwTkEj9q7pjZK',
  asryMint: null,
};
const urls = (hits: readonly { readonly url: string }[]): string[] => hits.map(({ url }) => url);

it.each([
  ['redeem', '/trust#redemption'],
  ['scam', '/trust'],
  ['terminal', '/reserves'],
  ['verify', '/reserves'],
  ['launch', '/tokens/new'],
  ['usdc reward', '/asry'],
  ['picture', '/tokens/new'],
  ['cost', '/tokens/new'],
  ['sell', '/pools'],
  ['refund', '/trust'],
])('a search for %s finds the page %s by its keywords', (text, url) => {
  expect(urls(matching(PAGE_HITS, text.split(' ')))).toContain(url);
});

const ID = '41973ce1-e6e6-48aa-93ea-f2fba8232c7b';
eachScene(`
  the reserve’s Bitcoin address | ${own.bitcoin}      | /reserves
  the reserve’s Solana address  | ${own.solana}       | /reserves
  the official mint of ABSR     | ${own.absrMint}     | /token/${own.absrMint}
  the symbol of ABSR            | Absr                | /token/${own.absrMint}
  the symbol of a token that is not configured | asry
  a word                        | otter
`)('a search for %s leads to the page of what it names', (_what, text = '', ...found) => {
  expect(urls(ownHits(text, own))).toEqual(found);
});

const SIGNATURE = '2'.repeat(88);
const MINT = exampleOf('getToken').mint_address;
/** @param known the operations that find something; any other has nothing of this name */
const apiWith =
  (...known: readonly string[]): Parameters<typeof namedHits>[1] =>
  async (name) =>
    known.includes(name) ? exampleOf(name) : null;

eachScene(`
  an invoice id     | ${ID.toUpperCase()} | getInvoice               | /tokens/new?invoice=${ID}
  a signature       | ${SIGNATURE}        | getSwapStatus            | /swap?swap=${SIGNATURE}
  a signature       | ${SIGNATURE}        | getAsryClaim             | /asry?claim=${SIGNATURE}
  a mint            | ${MINT}             | getToken                 | /token/${MINT}
  a creator         | ${SOLANA}           | listTokens               | /tokens?creator=${SOLANA}
  a word            | otter               | getToken listTokens
`)('a search for %s %s offers the pages of what %s finds', async (_what, text = '', known = '', ...found) => {
  expect(urls(await namedHits(text, apiWith(...known.split(' '))))).toEqual(found);
});

it('a creator without a listed token is no match', async () => {
  const created: Parameters<typeof namedHits>[1] = async (name) =>
    name === 'listTokens' ? { ...exampleOf(name), tokens: [] } : null;
  expect(await namedHits(SOLANA, created)).toEqual([]);
});

it.each([
  [ID, 'No invoice has this id.'],
  [SIGNATURE, 'No swap and no ASRY reward of this service has this signature.'],
  [SOLANA, 'No token, no creator of a listed token and no wallet of this service has this address.'],
  ['otter', 'No match.'],
])('a search for %s, which nothing has, offers no page and says: %s', async (text, words) => {
  expect(await namedHits(text, apiWith())).toEqual([]);
  expect(noMatchText(text)).toContain(words);
});

it.each([
  ['a well-known name', { warning: 'well_known_name' as const }, 'well-known name'],
  ['a key that can freeze', { powers: ['freeze' as const] }, 'can freeze accounts'],
  ['rights that could not be read', { powers: null }, 'rights not known'],
])('a found token with %s carries a warning', (_what, change, words) => {
  const { tokens } = exampleOf('listTokens');
  const [token] = tokens;
  if (token === undefined) throw new Error('no recorded token');
  expect(tokenHit({ ...token, warning: null, powers: [], ...change }).warning).toBe(words);
});

it('the values of a recorded path fill in its parameters', () => {
  expect(valuesIn('/api/tokens/{id}', '/api/tokens/a%20b?x=1')).toEqual({ id: 'a b', x: '1' });
});

it('a recorded request becomes a call of the tool with the names of the tool', () => {
  expect(toolCallOf('searchTokens', { q: 'otter' }, null)).toEqual({
    name: 'token_search',
    arguments: { query: 'otter' },
  });
  expect(toolCallOf('listTokens', {}, null)).toBeNull();
  expect(() => toolCallOf('getToken', {}, null)).toThrow('token_get refuses');
});
