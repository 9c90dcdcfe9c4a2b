import { AsryClaimForm } from '../parts/asry-claim.tsx';
import { AsryCurveView, AsryEpoch, PastEpochs } from '../parts/asry-live.tsx';
import { AsrySupply } from '../parts/asry-supply.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';
import { mount } from './mount.tsx';

mount({
  epoch: AsryEpoch,
  claim: AsryClaimForm,
  curve: AsryCurveView,
  supply: AsrySupply,
  past: PastEpochs,
  mints: OfficialMints,
});
