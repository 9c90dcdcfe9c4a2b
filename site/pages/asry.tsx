import { Live, type Page, Title } from '../layout.tsx';
import { AsryClaimForm } from '../parts/asry-claim.tsx';
import { AsryCurveView, AsryEpoch, PastEpochs } from '../parts/asry-live.tsx';
import { AsrySupply } from '../parts/asry-supply.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';

const Holders = () => (
  <section>
    <h2>What a holder gets</h2>
    <ul class="rights">
      <li class="good">
        A token in the paying wallet: keep it, send it, or trade it with anyone who wants it.
      </li>
      <li class="warn">
        Not a claim: ASRY cannot be redeemed here, has no share of the reserve, and the payment is not
        returned.
      </li>
      <li class="warn">No guaranteed price. Those who trade ASRY decide its price.</li>
    </ul>
  </section>
);

export const asry: Page = {
  path: '/asry',
  title: 'ASRY rewards',
  description:
    'ASRY is a token on Solana that rewards those who fund the service with USDC or USDT, along a public curve.',
  script: 'asry',
  Content: () => (
    <>
      <Title name="ASRY rewards">
        ASRY is a thank-you for funding this service: pay USDC or USDT and receive the token. Earlier payments
        earn more. ASRY buys nothing here. The payment goes to the operator's treasury, not into the reserve,
        and is not returned.
      </Title>
      <Live name="epoch" json="/api/asry/epoch">
        <AsryEpoch />
      </Live>
      <div class="split">
        <section>
          <h2>Pay and claim</h2>
          <p>Connect a wallet and approve one payment. The reward goes to the same wallet.</p>
          <Live name="claim" isForm>
            <AsryClaimForm />
          </Live>
        </section>
        <section>
          <h2>The curve</h2>
          <p>
            The sooner a payment is claimed, the more each dollar earns. Splitting a payment gains nothing.
            However much is paid in an epoch, its rewards together stay below the cap.
          </p>
          <Live name="curve" json="/api/asry/epoch">
            <AsryCurveView />
          </Live>
        </section>
      </div>
      <div class="columns">
        <Holders />
        <section id="supply">
          <h2>Who can create ASRY, and how much</h2>
          <Live name="supply" json="/api/asry/epoch">
            <AsrySupply />
          </Live>
        </section>
      </div>
      <section>
        <h2>The real mints</h2>
        <p>Anyone can copy their names. Only these mints are ABSR and ASRY.</p>
        <Live name="mints" json="/api/arbitrage/summary">
          <OfficialMints />
        </Live>
      </section>
      <section>
        <h2>Past epochs</h2>
        <Live name="past" json="/api/asry/epoch">
          <PastEpochs />
        </Live>
      </section>
    </>
  ),
};
