import { Live, type Page, Title } from '../layout.tsx';
import { AsryClaimForm } from '../parts/asry-claim.tsx';
import { AsryCurveView, AsryEpoch, PastEpochs } from '../parts/asry-live.tsx';

export const asry: Page = {
  path: '/asry',
  title: 'ASRY rewards',
  description:
    'Deposits of USDC and USDT to the treasury earn ASRY, on a capped curve that anyone can compute.',
  script: 'asry',
  Content: () => (
    <>
      <Title
        name="ASRY rewards"
        picture={{
          waters: [
            ['plain', 0.9],
            ['asry', 0.6],
          ],
          open: true,
        }}
      >
        A deposit of USDC or USDT to the treasury earns ASRY. The amount follows one public curve, each
        deposit is paid once, and the cap is never exceeded.
      </Title>
      <Live name="epoch" json="/api/asry/epoch">
        <AsryEpoch />
      </Live>
      <div class="split">
        <section>
          <h2>Deposit and claim</h2>
          <p>Connect a wallet, approve one payment, and the reward comes back to the same wallet.</p>
          <Live name="claim" json="/llms.txt">
            <AsryClaimForm />
          </Live>
        </section>
        <section>
          <h2>The curve</h2>
          <p>
            The sooner a deposit is claimed, the more each dollar earns. Splitting a deposit gains nothing.
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
