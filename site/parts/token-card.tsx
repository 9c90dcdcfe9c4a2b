import type { Child } from 'hono/jsx';
import { useState } from 'hono/jsx';
import type { TokenRecord } from '../../packages/client/src/index.ts';
import { FIGURES_POLL_MS, useQuery } from '../api/query.ts';
import { Whole } from './copyable.tsx';
import { coverageKind, coverageOf, coverageText } from './coverage.tsx';
import { Explorers } from './explorer-links.tsx';
import { instant, sats } from './format.ts';
import { later } from './later.tsx';
import { PriceTile, type Trade } from './pool-price.tsx';
import { ShareButton } from './share-button.tsx';
import { Tile } from './tile.tsx';
import { kindOf } from './token-badges.tsx';
import { ForeignPicture } from './token-picture.tsx';
import { OfficialPicture } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';
import { SupplyTile, TokenView } from './token-view.tsx';

/** Whether each ABSR is covered, and where a visitor checks it. */
function Coverage() {
  const summary = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const covered = coverageOf(summary);
  if (summary.value === null && summary.failure === null) return null;
  return (
    <p class={`verdict-line ${coverageKind(covered)}`}>
      <strong>{coverageText(covered)}</strong> <a href="/reserves#verify">Check it yourself</a>
    </p>
  );
}

/** What ABSR is for, and what it is not. */
export const AbsrPurpose = () => (
  <p>
    It counts the reserve in public, one for each sat, and programs on Solana can read that count. It is not a
    claim: <a href="/trust#redemption">it cannot be redeemed</a>, and the operator can move the BTC.
  </p>
);

/** What an official token is for. */
const Purpose = ({ official }: Pick<TokenRecord, 'official'>) => {
  if (official?.asset === 'ABSR')
    return (
      <>
        <Coverage />
        <AbsrPurpose />
      </>
    );
  if (official?.asset === 'ASRY')
    return (
      <p>
        It rewards those who fund the service: <a href="/asry">how to earn it</a>. It is not a claim on the
        reserve.
      </p>
    );
  return null;
};

const QrCode = later(async () => (await import('./qr-code.tsx')).QrCode);

/** Wallets list a token by its mint address; each wallet shows a token automatically once it holds some of it. */
function AddToWallet({ mint }: { mint: string }) {
  const [isCopied, setCopied] = useState<boolean | null>(null);
  const copy = (): Promise<void> =>
    navigator.clipboard.writeText(mint).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <>
      <button type="button" class="quiet" onClick={copy}>
        Add to wallet
      </button>
      <span class="fine" role="status">
        {isCopied === null
          ? ''
          : `${isCopied ? 'Mint address copied' : 'Copy the mint address below'}. Paste it into the token search of your wallet. A token that you hold appears by itself.`}
      </span>
    </>
  );
}

/** What a visitor can do with a token at once. @param isElsewhere whether its page is another one than this */
export function TokenActions({ token, isElsewhere = false }: { token: TokenRecord; isElsewhere?: boolean }) {
  const { mint_address: mint, name } = token;
  const [isCodeShown, showCode] = useState(false);
  return (
    <>
      <p class="row">
        {isElsewhere ? (
          <a class="button" href={tokenUrl(mint)}>
            Open its page
          </a>
        ) : null}
        <ShareButton path={tokenUrl(mint)} title={name} isQuiet={isElsewhere} />
        <button
          type="button"
          class="quiet"
          aria-expanded={isCodeShown ? 'true' : 'false'}
          onClick={() => showCode(!isCodeShown)}
        >
          QR code
        </button>
        <AddToWallet mint={mint} />
      </p>
      {isCodeShown ? <QrCode text={mint} label="QR code of the mint address" /> : null}
    </>
  );
}

/** What ABSR counts. */
function ReserveTile() {
  const { value, failure } = useQuery('getAbsrSummary', {}, FIGURES_POLL_MS);
  const held = value?.coverage.reserveSatoshis;
  const isAwaited = value === null && failure === null;
  return (
    <Tile name="Sats in the reserve" value={held ? sats(held) : isAwaited ? undefined : null}>
      <a href="/reserves">See them</a>
    </Tile>
  );
}

/** The price where one is known; else when the token was created, or its kind. */
const SecondTile = ({ token, trade }: { token: TokenRecord; trade: Trade }) => {
  if (trade.type === 'pool') return <PriceTile trade={trade} />;
  if (token.official?.asset === 'ABSR') return <ReserveTile />;
  const created = token.created_at;
  if (created === null) return <Tile name="Kind" value={kindOf(token)} />;
  return (
    <Tile name="Created" value={<time dateTime={created}>{instant(created).slice(0, 10)}</time>}>
      {instant(created).slice(11)}
    </Tile>
  );
};

type TokenCardProps = {
  readonly token: TokenRecord;
  readonly trade: Trade;
  /** What follows the figures. */
  readonly children?: Child;
};

/** What a visitor of the token's page sees first. */
export const TokenCard = ({ token, trade, children }: TokenCardProps) => (
  <TokenView
    token={token}
    purpose={<Purpose official={token.official} />}
    picture={
      token.official === null ? (
        <ForeignPicture symbol={token.symbol} seed={token.mint_address} image={token.image} />
      ) : (
        <OfficialPicture asset={token.official.asset} />
      )
    }
    actions={<TokenActions token={token} />}
  >
    <div class="tiles two">
      <SupplyTile supply={token.supply_ui} />
      <SecondTile token={token} trade={trade} />
    </div>
    {children}
  </TokenView>
);

export const TokenAddress = ({ token }: { token: TokenRecord }) => (
  <div class="stacked">
    <span class="fine">Mint address</span>
    <Whole text={token.mint_address} label="mint address" />
    <span class="row explorers">
      <Explorers mint={token.mint_address} />
    </span>
  </div>
);
