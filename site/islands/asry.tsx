import { AsryClaimForm } from '../parts/asry-claim.tsx';
import { AsryCurveView, AsryEpoch, PastEpochs } from '../parts/asry-live.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';
import { mount } from './mount.tsx';

mount({
  epoch: AsryEpoch,
  claim: AsryClaimForm,
  curve: AsryCurveView,
  past: PastEpochs,
  mints: OfficialMints,
});
