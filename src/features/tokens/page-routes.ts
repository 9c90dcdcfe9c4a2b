import { html } from 'hono/html';
import { isAddress } from '../../chain/solana/address.ts';
import { POWER_WORDS } from '../../chain/solana/token-powers.ts';
import { grouped } from '../../core/amount.ts';
import { limitReads } from '../../http/rate-limit.ts';
import { newRouter } from '../../http/router.ts';
import { instant, type PageHead, sitePage } from '../../http/site-page.ts';
import { findToken, type TokenDeps, tokenBodies } from './routes.ts';

export type TokenPageDeps = Pick<TokenDeps, 'tokens' | 'facts' | 'publicBaseUrl'> & {
  readonly assets: Pick<Fetcher, 'fetch'>;
};

type TokenBody = Awaited<ReturnType<typeof tokenBodies>>[number];

const PATH = '/token/';
const MAX_DESCRIPTION_CHARS = 300;

/** The text without characters that are invisible or change the writing direction. */
const visible = (text: string): string => text.replaceAll(/\p{C}/gu, '');

function powerBadges({ powers }: TokenBody): string[] {
  if (powers === null) return ['rights not known'];
  return powers.length === 0 ? ['supply fixed'] : powers.map((power) => POWER_WORDS[power][0]);
}

/** Facts that a reader should see before the name of a token. */
const badges = (token: TokenBody): string[] => [
  ...(token.warning === null ? [] : ['Its name or symbol resembles a well-known token']),
  token.listed_at === null ? 'Not listed' : 'Listed',
  ...powerBadges(token),
];

function headOf(token: TokenBody, origin: string): PageHead {
  const [name, symbol] = [visible(token.name), visible(token.symbol)];
  const facts = `${badges(token).join(', ')}. Supply ${grouped(token.supply_ui)} ${symbol}. Mint ${token.mint_address}.`;
  return {
    title: `${name} (${symbol}) · Sluice`,
    description: `${facts} ${visible(token.description)}`.trim().slice(0, MAX_DESCRIPTION_CHARS),
    url: `${origin}${PATH}${token.mint_address}`,
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

/** `/token/{mint}`. A numeric id is redirected there. Deeper paths are unknown, like every path without a page. */
export const tokenPageRoutes = newRouter<{ readonly tokens: TokenPageDeps }>().get(
  `${PATH}*`,
  limitReads,
  async (c) => {
    const deps = c.var.deps.tokens;
    const id = c.req.path.slice(PATH.length);
    const row = await findToken(deps.tokens, id).catch(() => null);
    // The page's own script reads again and reports the outage.
    if (row === null) return sitePage(deps.assets, '/token', { status: 503 });
    if (row === undefined) return sitePage(deps.assets, '/404', { status: 404 });
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
