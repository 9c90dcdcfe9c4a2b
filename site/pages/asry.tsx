import { Live, type Page, Title } from '../layout.tsx';
import { AsryClaimForm } from '../parts/asry-claim.tsx';
import { AsryCurveView, AsryEpoch, PastEpochs } from '../parts/asry-live.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';

export const asry: Page = {
  path: '/asry',
  title: 'ASRY rewards',
  description: 'ASRY is a reward token on Solana, earned by payments of USDC or USDT along a public curve.',
  script: 'asry',
  Content: () => (
    <>
      <Title name="ASRY rewards">
        ASRY is a reward token for those who fund the service: a payment of USDC or USDT earns it once, and
        earlier payments earn more. It is not a claim on the reserve, nothing here redeems it, and the payment
        is not returned.
      </Title>
      <Live name="epoch" json="/api/asry/epoch">
        <AsryEpoch />
      </Live>
      <Live name="mints" json="/api/arbitrage/summary">
        <OfficialMints />
      </Live>
      <div class="split">
        <section>
          <h2>Pay and claim</h2>
          <p>Connect a wallet and approve one payment. The reward goes to the same wallet.</p>
          <Live name="claim" json="/llms.txt">
            <AsryClaimForm />
          </Live>
        </section>
        <section>
          <h2>The curve</h2>
          <p>
            The sooner a payment is claimed, the more each dollar earns. Splitting a payment gains nothing.
            The cap is never exceeded.
          </p>
          <Live name="curve" json="/api/asry/epoch">
            <AsryCurveView />
          </Live>
        </section>
      </div>
      <section>
        <h2>Past epochs</h2>
        <Live name="past" json="/api/asry/epoch">
          <PastEpochs />
        </Live>
      </section>
    </>
  ),
};
