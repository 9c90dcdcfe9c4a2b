import type { Assets } from '../build/assets.ts';
import { Live, type Page, Title } from '../layout.tsx';
import { AbsrHolders, OfficialMints } from '../parts/official-mints.tsx';
import { TrustClaims } from '../parts/trust-claims.tsx';
import { TrustDangers } from '../parts/trust-dangers.tsx';
import { TrustOperator, TrustSources, TrustTiles } from '../parts/trust-facts.tsx';
import { TrustKeys } from '../parts/trust-keys.tsx';
import { TerminalCheck } from '../parts/verify-command.tsx';

const Redemption = () => (
  <section id="redemption">
    <h2>Why there is no redemption</h2>
    <p>
      <strong>ABSR cannot be exchanged for BTC here.</strong> The service has no code that sends BTC, so
      neither a fault nor a stolen Solana key can move the sats. Whoever steals the Bitcoin key can, and so
      can whoever deploys other code. Redemption would need a Bitcoin key that pays whoever asks.
    </p>
    <p>
      “Covered” therefore means one thing: the address holds at least as many sats as ABSR exist. It does not
      mean that a holder owns sats, that someone owes them, or that ABSR has a price. Others may trade it in
      pools, at any price or none.
    </p>
  </section>
);

const Tokens = () => (
  <section>
    <h2>Which tokens are real, and who holds them</h2>
    <p>Anyone can give a token these names. Only these mints are ABSR and ASRY:</p>
    <Live name="mints" json="/api/arbitrage/summary">
      <OfficialMints />
    </Live>
    <Live name="holders" json="/api/reserves">
      <AbsrHolders />
    </Live>
  </section>
);

const Keys = () => (
  <section id="keys">
    <h2>Who holds the keys</h2>
    <Live name="keys" json="/api/reserves">
      <TrustKeys />
    </Live>
  </section>
);

const Operator = () => (
  <section id="operator">
    <h2>Who runs this service</h2>
    <Live name="operator">
      <TrustOperator />
    </Live>
    <p>Use this contact to report a problem or to ask about a payment.</p>
  </section>
);

const Check = ({ assets }: { assets: Assets }) => (
  <section id="check">
    <h2>What you can check, and what you must take on trust</h2>
    <Live name="claims" json="/api/reserves">
      <TrustClaims />
    </Live>
    <h3>Without trusting this site</h3>
    <p>
      If this site is down, the chains are not: any explorer shows the sats of the address and the ABSR
      supply. Only the signed proofs come from here.
    </p>
    <TerminalCheck {...assets} />
  </section>
);

const Sources = () => (
  <section>
    <h2>Where the figures come from</h2>
    <p>
      The figures come from these sources. Your browser asks other hosts when you{' '}
      <a href="/reserves#verify">check the proof</a>.
    </p>
    <Live name="sources" json="/api/reserves">
      <TrustSources />
    </Live>
  </section>
);

const Dangers = () => (
  <section id="wrong">
    <h2>What can go wrong</h2>
    <Live name="dangers" json="/api/reserves">
      <TrustDangers />
    </Live>
  </section>
);

export const trust: Page = {
  path: '/trust',
  title: 'Whom you trust, and with what',
  description:
    'Who holds the keys of the reserve, what the operator or a thief could do, and what the proof does not show.',
  script: 'trust',
  Content: ({ assets }) => (
    <>
      <Title name="Whom you trust, and with what">
        What the chains show, what only the operator states, and who could still harm you.
      </Title>
      <Live name="facts" json="/api/reserves">
        <TrustTiles />
      </Live>
      <Check assets={assets} />
      <Dangers />
      <Keys />
      <div class="columns">
        <div>
          <Redemption />
          <Sources />
        </div>
        <div>
          <Tokens />
          <Operator />
        </div>
      </div>
    </>
  ),
};
