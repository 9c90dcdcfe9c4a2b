/**
 * The islands of a page as HTML, rendered by the Worker from the same components and the same responses with which the
 * page's script begins.
 * @module
 */
import type { JSX } from 'hono/jsx/jsx-runtime';
import { type Answers, withAnswers } from './api/query.ts';
import { Alerts } from './parts/alerts.tsx';
import { AsryCurveView, AsryEpoch, PastEpochs } from './parts/asry-live.tsx';
import { Flow } from './parts/overview-flow.tsx';
import { Hero } from './parts/overview-hero.tsx';
import { SignedMessage, Wallets } from './parts/reserves-live.tsx';
import { StatusLive } from './parts/status-live.tsx';
import { TokenBrowser } from './parts/token-list.tsx';

type Island = () => JSX.Element | null;

/** By page and name; an island is rendered once the first response that it needs is there. */
const ISLANDS: Readonly<Record<string, Readonly<Record<string, readonly [needs: string, Island]>>>> = {
  '/': { hero: ['getAbsrSummary {}', Hero], flow: ['getReserves {}', Flow] },
  '/reserves': { wallets: ['getReserves {}', Wallets], message: ['getProof {}', SignedMessage] },
  '/status': { status: ['getStatus {}', StatusLive] },
  '/tokens': { browser: ['listTokens {}', TokenBrowser] },
  '/asry': {
    epoch: ['getAsryEpoch {}', AsryEpoch],
    curve: ['getAsryEpoch {}', AsryCurveView],
    past: ['getAsryEpoch {}', PastEpochs],
  },
};

/** @returns HTML by the name of the island */
export const renderIslands = (page: string, answers: Answers): Readonly<Record<string, string>> =>
  withAnswers(answers, () =>
    Object.fromEntries(
      Object.entries({ alerts: ['getAbsrSummary {}', Alerts] as const, ...ISLANDS[page] }).flatMap(
        ([name, [needs, Island]]) => (needs in answers ? [[name, String(<Island />)]] : []),
      ),
    ),
  );
