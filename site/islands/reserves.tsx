import { BadgeCode } from '../parts/badge-code.tsx';
import { OfficialMints } from '../parts/official-mints.tsx';
import { ProofArchive } from '../parts/proof-archive.tsx';
import { ChainTransactions, SignedMessage, Wallets } from '../parts/reserves-live.tsx';
import { VerifyCommand } from '../parts/verify-command.tsx';
import { VerifyPanel } from '../parts/verify-panel.tsx';
import { mount } from './mount.tsx';

const command = document.querySelector<HTMLElement>('[data-island="command"]');

mount({
  mints: OfficialMints,
  wallets: Wallets,
  verify: () => <VerifyPanel isListed />,
  message: SignedMessage,
  archive: ProofArchive,
  transactions: ChainTransactions,
  badge: BadgeCode,
  command: () => <VerifyCommand source={command?.dataset.source ?? ''} />,
});
// The element of the URL's fragment has just been rendered.
if (location.hash === '#verify') document.getElementById('verify')?.scrollIntoView();
