import { Live, type Page, Title } from '../layout.tsx';
import { AbsrHolders, OfficialMints } from '../parts/official-mints.tsx';
import { Folded, Table } from '../parts/table.tsx';
import { TrustKeys, TrustOperator, TrustSources, TrustTiles } from '../parts/trust-facts.tsx';

/** The assets of docs/use/threat-model.md. */
const LOSSES = [
  [
    'SOL of the reserve',
    'A thief of the Solana key, or of the right to deploy code: all of it. An attacker who passes every check without the key: the daily limit that the status page shows.',
  ],
  [
    'BTC of the reserve',
    'A thief of the Bitcoin key: all of it. If that key signs proofs in the service, the right to deploy code reaches it too. If it is offline, breaking into the service is not enough.',
  ],
  [
    'ABSR',
    'With a witness (see the keys above): at most the sats above the supply, to the treasury, unless the thief has both keys. Without a witness, a thief of the Solana key mints any amount. Every page then shows a red bar.',
  ],
  ['ASRY', 'A thief of the Solana key: the rewards of an epoch.'],
  ['Your payment for a token', 'The refunds that are owed at that moment.'],
  ['Your privacy', 'A reader of the database: network addresses of the last 30 days.'],
] as const;

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
      none. ASRY is no claim either: it is the thanks for a payment that is not returned.
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
    <p>
      The operator has all keys, except that of the witness if another person runs it. Report to this contact
      whatever looks wrong, and ask there about a payment.
    </p>
  </section>
);

const Dangers = () => (
  <section id="wrong">
    <h2>What can go wrong</h2>
    <div class="columns">
      <div>
        <h3>The operator could</h3>
        <ul class="holders">
          <li>
            <strong>Move the SOL and the BTC of the reserve with the keys, at any time.</strong>
          </li>
          <li>
            Mint ABSR beyond the reserve. The chain shows it, and so does a red bar on every page, unless the
            operator changed the pages.
          </li>
          <li>Deploy code other than the published source. You cannot check from outside which code runs.</li>
          <li>
            Pause swaps, token creations and claims. Payments that were received are then owed, not lost.
          </li>
        </ul>
      </div>
      <div>
        <h3>The proof does not show</h3>
        <ul class="holders">
          <li>
            That the keys are still in the same hands: a signature proves control at its time, not later.
          </li>
          <li>That the BTC is free of debts or promises made elsewhere.</li>
          <li>
            Unconfirmed Bitcoin transactions, and SOL or tokens at the Solana address. They are not counted.
          </li>
          <li>That the service keeps running, or that ABSR has a price.</li>
        </ul>
      </div>
    </div>
    <h3>A thief could take</h3>
    <Folded summary="The worst loss of each thing">
      <Table
        label="What a thief could take"
        columns={[{ name: 'What' }, { name: 'Worst loss' }]}
        rows={LOSSES}
        empty=""
        isProse
      />
    </Folded>
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
      <Operator />
      <Dangers />
      <Redemption />
      <Keys />
      <Tokens />
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
      <section>
        <h2>Check it yourself</h2>
        <p>
          <a href="/reserves#verify">Check the proof</a> against public explorers, or from a terminal. The{' '}
          <a href="/status">status page</a> has the limits and the open alarms.
        </p>
      </section>
    </>
  ),
};
