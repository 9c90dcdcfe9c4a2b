import { html } from 'hono/html';
import { isAddress } from '../../chain/solana/address.ts';
import { grouped } from '../../core/amount.ts';
import { DAY_MS } from '../../core/durations.ts';
import { readLetters } from '../../http/picture.ts';
import { limitReads } from '../../http/rate-limit.ts';
import { newRouter } from '../../http/router.ts';
import { instant, type PageHead, sitePage } from '../../http/site-page.ts';
import { drawPreviewCard } from './preview-card.ts';
import { findToken, type TokenDeps, tokenBodies } from './routes.ts';
import type { TokenRow } from './token-store.ts';

export type TokenPageDeps = Pick<TokenDeps, 'tokens' | 'facts' | 'publicBaseUrl' | 'memory'> & {
  readonly assets: Pick<Fetcher, 'fetch'>;
};

type TokenBody = Awaited<ReturnType<typeof tokenBodies>>[number];

const PATH = '/token/';
const MAX_DESCRIPTION_CHARS = 300;
const CARD = '.png';
const CARD_MAX_AGE = 3_600;
/** The shapes of the picture's letters change only with a deployment, which starts new isolates. */
const LETTERS_POLICY = { freshMs: DAY_MS, revalidateMs: 0, staleMs: 0 };

/** The text without characters that are invisible or change the writing direction. */
const visible = (text: string): string => text.replaceAll(/\p{C}/gu, '');

/** Facts that a reader should see before the name of a token. */
const badges = (token: TokenBody): string[] => [
  ...(token.warning === null ? [] : ['Its name or symbol resembles a well-known token']),
  token.listed_at === null ? 'Not listed' : 'Listed',
  ...(token.as_of === null
    ? ['rights not known']
    : [
        token.mint_authority === null ? 'supply fixed' : 'can mint more',
        ...(token.freeze_authority === null ? [] : ['can freeze accounts']),
      ]),
];

/** The creator's picture; none for a token that resembles another, because the picture would complete the imitation. */
function pictureOf({ image, warning }: TokenBody): string | null {
  const url = image !== null && warning === null ? URL.parse(image) : null;
  return url?.protocol === 'https:' ? url.href : null;
}

function headOf(token: TokenBody, origin: string): PageHead {
  const picture = pictureOf(token);
  const [name, symbol] = [visible(token.name), visible(token.symbol)];
  const facts = `${badges(token).join(', ')}. Supply ${grouped(token.supply_ui)} ${symbol}. Mint ${token.mint_address}.`;
  return {
    title: `${name} (${symbol}) · Sluice`,
    description: `${facts} ${visible(token.description)}`.trim().slice(0, MAX_DESCRIPTION_CHARS),
    url: `${origin}${PATH}${token.mint_address}`,
    images: [`${origin}${PATH}${token.mint_address}${CARD}`, ...(picture === null ? [] : [picture])],
    imageAlt: `${name}: ${facts}`,
  };
}

/** The first content has the same size as that of the page's script, so that nothing on the page moves. */
const firstState = (token: TokenBody) => html`<div class="token-head">
<span class="initial" aria-hidden="true"><bdi>${[...token.symbol][0]?.toUpperCase() ?? '?'}</bdi></span>
<div><h1><bdi class="foreign">${token.name}</bdi></h1>
<p><bdi>${token.symbol}</bdi>: ${badges(token).join(', ')}.</p></div>
</div>
<p class="prose"><bdi>${token.description}</bdi></p>
<dl class="facts first">
<dt>Mint address</dt><dd><code>${token.mint_address}</code></dd>
<dt>Supply</dt><dd>${grouped(token.supply_ui)} <bdi>${token.symbol}</bdi></dd>
<dt>Created</dt><dd>${instant(token.created_at)}</dd>
<dt>Read from the chain</dt><dd>${token.as_of === null ? 'could not be read' : instant(token.as_of)}</dd>
</dl>`;

const CARD_HEADERS = { 'Content-Type': 'image/png', 'Cache-Control': `public, max-age=${CARD_MAX_AGE}` };

/** The picture of a link to a token. */
async function cardOf(deps: TokenPageDeps, row: TokenRow) {
  const [[token], letters] = await Promise.all([
    tokenBodies(deps, [row]),
    deps.memory.read('letters', LETTERS_POLICY, async () =>
      readLetters(await deps.assets.fetch('https://assets/letters.bin')),
    ),
  ]);
  if (token === undefined) throw new Error(`no facts of ${row.mint}`);
  const [name, symbol] = [visible(token.name), visible(token.symbol)];
  const { warning, supply_ui: supply, mint_address: mint } = token;
  const card = {
    name,
    symbol,
    supply: grouped(supply),
    badges: badges(token),
    isDoubtful: warning !== null,
    mint,
  };
  return new Uint8Array(await drawPreviewCard(card, letters.value));
}

/**
 * `/token/{mint}` and its picture, `/token/{mint}.png`. A numeric id is redirected there. Deeper paths are unknown, like every
 * path without a page.
 */
export const tokenPageRoutes = newRouter<{ readonly tokens: TokenPageDeps }>().get(
  `${PATH}*`,
  limitReads,
  async (c) => {
    const deps = c.var.deps.tokens;
    const isCard = c.req.path.endsWith(CARD);
    const id = c.req.path.slice(PATH.length, isCard ? -CARD.length : undefined);
    const row = await findToken(deps.tokens, id).catch(() => null);
    // The page's own script reads again and reports the outage.
    if (row === null) return sitePage(deps.assets, '/token', { status: 503 });
    if (row === undefined) return sitePage(deps.assets, '/404', { status: 404 });
    if (isCard) return c.body(await cardOf(deps, row), 200, CARD_HEADERS);
    if (!isAddress(id)) return c.redirect(`${PATH}${row.mint}`);
    const [token] = await tokenBodies(deps, [row]);
    if (token === undefined) throw new Error(`no facts of ${row.mint}`);
    return sitePage(deps.assets, '/token', {
      head: headOf(token, deps.publicBaseUrl || new URL(c.req.url).origin),
      islands: { token: firstState(token) },
      responses: [{ name: 'getToken', input: { id }, value: token }],
    });
  },
);
