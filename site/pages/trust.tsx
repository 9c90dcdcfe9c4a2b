import { Live, type Page, Title } from '../layout.tsx';
import { AbsrHolders, OfficialMints } from '../parts/official-mints.tsx';
import { TrustDangers } from '../parts/trust-dangers.tsx';
import { TrustOperator, TrustSources, TrustTiles } from '../parts/trust-facts.tsx';
import { TrustKeys } from '../parts/trust-keys.tsx';

const Redemption = () => (
  <section id="redemption">
    <h2>Why there is no redemption</h2>
    <p>
      <strong>ABSR cannot be exchanged for BTC here.</strong> The service has no code that sends BTC, so
      neither a fault nor a thief of its Solana key can move the sats. Redemption would need a Bitcoin key
      that pays whoever asks.
    </p>
    <p>
      So ABSR is a count of the reserve, not a claim on it. Others may trade it in pools, at any price or
      none. ASRY is no claim either: it is a thank-you for a payment that is not returned.
    </p>
  </section>
);

const Tokens = () => (
  <section>
    <h2>Which tokens are real, and who holds them</h2>
    <p>Anybody can give a token these names. Only these mints are ABSR and ASRY:</p>
    <Live name="mints" json="/api/arbitrage/summary">
      <OfficialMints />
    </Live>
    <AbsrHolders />
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
    <p>Tell this contact what looks wrong, or ask about a payment.</p>
  </section>
);

const Check = () => (
  <section>
    <h2>Check it yourself</h2>
    <p>
      <a href="/reserves#verify">Check the proof</a> against public explorers, or{' '}
      <a href="/reserves#terminal">from a terminal</a>. The <a href="/status">status page</a> has the limits
      and the open alarms.
    </p>
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
  Content: () => (
    <>
      <Title name="Whom you trust, and with what">
        The proof shows what the reserve holds. This page says what it cannot show, and who could still harm
        you.
      </Title>
      <Live name="facts" json="/api/reserves">
        <TrustTiles />
      </Live>
      <div class="columns">
        <Operator />
        <Check />
      </div>
      <Dangers />
      <Keys />
      <div class="columns">
        <Redemption />
        <Tokens />
      </div>
      <section>
        <h2>Whom the service asks</h2>
        <p>
          The figures come from these sources. Your browser asks other hosts when you{' '}
          <a href="/reserves#verify">check the proof</a>.
        </p>
        <Live name="sources" json="/api/reserves">
          <TrustSources />
        </Live>
      </section>
    </>
  ),
};
