import type { Assets } from '../build/assets.ts';
import { Live, type Page, Title } from '../layout.tsx';
import { BadgeCode } from '../parts/badge-code.tsx';
import { AbsrHolders, OfficialMints } from '../parts/official-mints.tsx';
import { ProofArchive } from '../parts/proof-archive.tsx';
import { SignedMessage, SolanaTransactions, Wallets } from '../parts/reserves-live.tsx';
import { SatOrigins } from '../parts/sat-origins.tsx';
import { TerminalCheck } from '../parts/verify-command.tsx';
import { VerifyPanel } from '../parts/verify-panel.tsx';

const Terminal = ({ assets }: { assets: Assets }) => (
  <section id="terminal">
    <h2>The same check from a terminal</h2>
    <TerminalCheck {...assets} />
  </section>
);

const Archive = ({ isDemonstration }: { isDemonstration: boolean }) => (
  <details class="more">
    <summary>Archive of proofs</summary>
    <p>
      Each proof contains the hash of the one before, and each daily mint on Solana names the newest hash in
      its memo. Keep a copy to detect a full rewrite.
      {isDemonstration ? ' In this demonstration, only the last day has a proof for each hour.' : ''}
    </p>
    <Live name="archive" json="/api/proof/history">
      <ProofArchive />
    </Live>
  </details>
);

const Badge = () => (
  <details class="more">
    <summary>A badge for your site</summary>
    <p>
      A picture that is green while the sats cover the supply, red when they do not, and gray when the figures
      are old or unknown.
    </p>
    <div data-island="badge">
      <BadgeCode />
    </div>
  </details>
);

/** What a reader of the verdict opens next. */
const Records = ({ isDemonstration }: { isDemonstration: boolean }) => (
  <section>
    <h2>The records behind it</h2>
    <div class="stack">
      <details class="more">
        <summary>What was signed</summary>
        {/* A link to it opens the fold. */}
        <p id="signed">The exact message. Changing one byte invalidates both signatures.</p>
        <Live name="message" json="/api/proof">
          <SignedMessage />
        </Live>
      </details>
      <Archive isDemonstration={isDemonstration} />
      <details class="more">
        <summary>Solana transactions</summary>
        <Live name="transactions" json="/api/transactions/solana">
          <SolanaTransactions />
        </Live>
      </details>
      <Badge />
    </div>
  </section>
);

export const reserves: Page = {
  path: '/reserves',
  title: 'Reserves and proof',
  description:
    "The reserve's holdings on Bitcoin and Solana, the message that the operator's Bitcoin key and Solana key sign, and a check that runs in your browser.",
  script: 'reserves',
  Content: ({ assets }) => (
    <>
      <Title name="Reserves and proof">
        One ABSR on Solana for each sat here. The operator's Bitcoin key and Solana key sign both figures, and
        your browser can check them.
      </Title>
      <section id="verify" class="card first-check">
        <Live name="verify" json="/api/proof">
          <VerifyPanel isListed />
        </Live>
      </section>
      <Live name="wallets" json="/api/reserves">
        <Wallets />
      </Live>
      <section>
        <h2>The tokens, and who holds them</h2>
        <Live name="mints" json="/api/arbitrage/summary">
          <OfficialMints />
        </Live>
        <Live name="holders" json="/api/reserves">
          <AbsrHolders />
        </Live>
      </section>
      <section id="origins">
        <h2>Where every sat came from</h2>
        <Live name="origins" json="/api/transactions/bitcoin">
          <SatOrigins />
        </Live>
      </section>
      <Terminal assets={assets} />
      <Records isDemonstration={assets.isDemonstration} />
    </>
  ),
};
