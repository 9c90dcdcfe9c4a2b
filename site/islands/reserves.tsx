import { BadgeCode } from '../parts/badge-code.tsx';
import { AbsrHolders, OfficialMints } from '../parts/official-mints.tsx';
import { ProofArchive } from '../parts/proof-archive.tsx';
import { SignedMessage, SolanaTransactions, Wallets } from '../parts/reserves-live.tsx';
import { SatOrigins } from '../parts/sat-origins.tsx';
import { PageCommand } from '../parts/verify-command.tsx';
import { VerifyPanel } from '../parts/verify-panel.tsx';
import { mount } from './mount.tsx';

mount({
  mints: OfficialMints,
  holders: AbsrHolders,
  wallets: Wallets,
  verify: () => <VerifyPanel isListed />,
  message: SignedMessage,
  archive: ProofArchive,
  origins: SatOrigins,
  transactions: SolanaTransactions,
  badge: BadgeCode,
  command: PageCommand,
});
// The element of the URL's fragment has just been rendered.
if (location.hash === '#verify') document.getElementById('verify')?.scrollIntoView();
