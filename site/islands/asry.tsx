import { AsryClaimForm } from '../parts/asry-claim.tsx';
import { AsryEpoch, DepositAddress, PastEpochs } from '../parts/asry-live.tsx';
import { mount } from './mount.tsx';

mount({
  epoch: AsryEpoch,
  claim: AsryClaimForm,
  deposit: () => (
    <div class="card">
      <DepositAddress />
    </div>
  ),
  past: PastEpochs,
});
