import { Live, type Page, Title } from '../layout.tsx';
import { AsryClaimForm } from '../parts/asry-claim.tsx';
import { AsryEpoch, DepositAddress, PastEpochs } from '../parts/asry-live.tsx';

export const asry: Page = {
  path: '/asry',
  title: 'ASRY rewards',
  description:
    'Deposits of USDC and USDT to the treasury earn ASRY, on a capped curve that anybody can compute.',
  script: 'asry',
  Content: () => (
    <>
      <Title name="ASRY rewards">
        A deposit of USDC or USDT to the treasury earns ASRY. How much follows from one curve; nobody can be
        paid twice, and the cap is never passed.
      </Title>
      <Live name="epoch" json="/api/asry/epoch">
        <AsryEpoch />
      </Live>
      <div class="split">
        <section>
          <h2>Claim</h2>
          <p>Give the deposit, look at what it earns, then claim. A repeated claim pays nothing twice.</p>
          <Live name="claim" json="/llms.txt">
            <AsryClaimForm />
          </Live>
        </section>
        <section>
          <h2>Deposit</h2>
          <p>A deposit is a payment, not a loan. It is not returned.</p>
          <Live name="deposit" json="/api/explorer/treasury">
            <div class="card">
              <DepositAddress />
            </div>
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
