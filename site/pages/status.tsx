import { Live, type Page, Title } from '../layout.tsx';
import { StatusLive } from '../parts/status-live.tsx';

export const status: Page = {
  path: '/status',
  title: 'Status',
  description:
    'Whether every part of the service works: sources, scheduled work, signing, limits, and the coverage of ABSR.',
  script: 'status',
  Content: () => (
    <>
      <Title name="Status">
        Whether every part works, how much of each limit is left, and the last operations. ABSR is the token
        on Solana that counts the sats of the reserve.
      </Title>
      <Live name="status" json="/api/status">
        <StatusLive />
      </Live>
    </>
  ),
};
