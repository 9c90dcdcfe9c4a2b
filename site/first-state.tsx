/**
 * The islands of a page as HTML, rendered by the Worker from the same components and the same responses with which the
 * page's script begins.
 * @module
 */
import type { JSX } from 'hono/jsx/jsx-runtime';
import { type Answers, withAnswers } from './api/query.ts';
import { Alerts } from './parts/alerts.tsx';
import { AsryCurveView, AsryEpoch, PastEpochs } from './parts/asry-live.tsx';
import { AsrySupply } from './parts/asry-supply.tsx';
import { NewestTokens } from './parts/newest-tokens.tsx';
import { AbsrHolders, OfficialMints } from './parts/official-mints.tsx';
import { Flow } from './parts/overview-flow.tsx';
import { Hero } from './parts/overview-hero.tsx';
import { SignedMessage, Wallets } from './parts/reserves-live.tsx';
import { StatusLive } from './parts/status-live.tsx';
import { TokenDetail } from './parts/token-detail.tsx';
import { TokenBrowser } from './parts/token-list.tsx';
import { TrustClaims } from './parts/trust-claims.tsx';
import { TrustDangers } from './parts/trust-dangers.tsx';
import { TrustSources, TrustTiles } from './parts/trust-facts.tsx';
import { TrustKeys } from './parts/trust-keys.tsx';
import { VerifyPanel } from './parts/verify-panel.tsx';

type Island = (props: { readonly id?: string | undefined }) => JSX.Element | null;

type Islands = Readonly<Record<string, readonly [operation: string, Island]>>;

/** By page and name; an island is rendered once the first response that it needs is there. */
const ISLANDS: Readonly<Record<string, Islands>> = {
  '/': {
    hero: ['getAbsrSummary', Hero],
    flow: ['getReserves', Flow],
    newest: ['listTokens', NewestTokens],
    mints: ['getAbsrSummary', OfficialMints],
  },
  '/reserves': {
    holders: ['getReserves', AbsrHolders],
    verify: ['getAbsrSummary', () => <VerifyPanel isListed />],
    wallets: ['getReserves', Wallets],
    message: ['getProof', SignedMessage],
    mints: ['getAbsrSummary', OfficialMints],
  },
  '/trust': {
    holders: ['getReserves', AbsrHolders],
    facts: ['getAbsrSummary', TrustTiles],
    claims: ['getReserves', TrustClaims],
    dangers: ['getReserves', TrustDangers],
    keys: ['getReserves', TrustKeys],
    sources: ['getReserves', TrustSources],
    mints: ['getAbsrSummary', OfficialMints],
  },
  '/status': { status: ['getStatus', StatusLive] },
  '/tokens': { browser: ['listTokens', TokenBrowser] },
  '/token': { token: ['getToken', TokenDetail] },
  '/asry': {
    epoch: ['getAsryEpoch', AsryEpoch],
    curve: ['getAsryEpoch', AsryCurveView],
    supply: ['getAsryEpoch', AsrySupply],
    past: ['getAsryEpoch', PastEpochs],
    mints: ['getAbsrSummary', OfficialMints],
  },
};

/**
 * @param answers responses by operation and input
 * @param id of the thing that the page shows, if it has one
 * @returns HTML by the name of the island
 */
export function renderIslands(page: string, answers: Answers, id?: string): Readonly<Record<string, string>> {
  const read = new Set(Object.keys(answers).map((key) => key.split(' ', 1)[0]));
  const islands: Islands = { alerts: ['getAbsrSummary', Alerts], ...ISLANDS[page] };
  return withAnswers(answers, () =>
    Object.fromEntries(
      Object.entries(islands).flatMap(([name, [operation, Island]]) =>
        read.has(operation) ? [[name, String(<Island id={id} />)]] : [],
      ),
    ),
  );
}
