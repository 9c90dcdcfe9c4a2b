/**
 * Wallet buttons. All wallet code is loaded on the first click, never before.
 * @module
 */
import type { Wallet } from '@wallet-standard/base';
import { useEffect, useState } from 'hono/jsx';
import { type Failure, failureFrom } from '../api/call.ts';
import type { Connected } from '../wallet/wallets.ts';
import { shortened } from './format.ts';
import { Failed, Notice, Waiting } from './notice.tsx';
import { useHasWallet, useIsPhone } from './phone.ts';

const load = () => import('../wallet/wallets.ts');

/** The connected account belongs to the page: all wallet buttons share it. */
let shared: Connected | null = null;
const CONNECTED = 'sluice:wallet';

function share(connected: Connected | null): void {
  shared = connected;
  window.dispatchEvent(new Event(CONNECTED));
}

export function useConnected(): Connected | null {
  const [connected, setConnected] = useState<Connected | null>(shared);
  useEffect(() => {
    const changed = (): void => setConnected(shared);
    changed();
    window.addEventListener(CONNECTED, changed);
    return () => window.removeEventListener(CONNECTED, changed);
  }, []);
  return connected;
}

/** A failure of a wallet, and whether it is certain that nothing was sent. */
async function walletFailure(
  thrown: unknown,
): Promise<{ readonly failed: Failure; readonly isUnsent: boolean }> {
  const { WalletProblem } = await import('../wallet/problem.ts');
  return thrown instanceof WalletProblem
    ? { failed: thrown.failure, isUnsent: thrown.kind !== 'failed' }
    : { failed: failureFrom(thrown), isUnsent: false };
}

const OTHERWISE =
  "Install one, such as Phantom, Solflare or Backpack, and press the button again. On a phone, open this page in the wallet app's browser.";

type AppButtons = {
  /** What a visitor does with a wallet app, before its name. */
  readonly does: string;
  /** What the app then shows. */
  readonly note: string;
};

const TO_PAY: AppButtons = { does: 'Pay with', note: 'The app opens this page. You pay there.' };

/**
 * Opens a page in the browser of a wallet app, where a wallet is found.
 * @see https://docs.phantom.com/phantom-deeplinks/other-methods/browse
 */
function WalletApps({ page, quiet, apps }: { page: string; quiet: boolean; apps: AppButtons }) {
  const [to, from] = [encodeURIComponent(page), encodeURIComponent(location.origin)];
  return (
    <div class="wallet-apps">
      <a class={quiet ? 'button quiet' : 'button'} href={`https://phantom.app/ul/browse/${to}?ref=${from}`}>
        {apps.does} Phantom
      </a>
      <a class="button quiet" href={`https://solflare.com/ul/v1/browse/${to}?ref=${from}`}>
        {apps.does} Solflare
      </a>
      <span class="fine">{apps.note}</span>
    </div>
  );
}

type ConnectWalletProps = {
  readonly label: string;
  readonly quiet?: boolean;
  /** What a visitor without a wallet in this browser can do. */
  readonly otherwise?: string;
  /** What a wallet app on a phone opens; this page if absent. */
  readonly page?: (() => string) | undefined;
  readonly apps?: AppButtons;
};

/**
 * Lists the wallets of this browser and connects one. Shows nothing once connected. A phone without one gets links to
 * wallet apps.
 */
export function ConnectWallet(props: ConnectWalletProps) {
  const connected = useConnected();
  const isPhone = useIsPhone();
  const hasWallet = useHasWallet();
  if (connected !== null) return <ConnectedAccount connected={connected} />;
  if (isPhone && !hasWallet)
    return (
      <WalletApps
        page={props.page?.() ?? location.href}
        quiet={props.quiet ?? false}
        apps={props.apps ?? TO_PAY}
      />
    );
  return <FindWallet {...props} />;
}

function FindWallet({ label, quiet = false, otherwise = OTHERWISE }: ConnectWalletProps) {
  const [wallets, setWallets] = useState<readonly Wallet[] | null>(null);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [stop, setStop] = useState<(() => void) | null>(null);
  useEffect(() => () => stop?.(), [stop]);

  const attempt = async (run: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await run();
    } catch (thrown) {
      setFailure((await walletFailure(thrown)).failed);
    }
    setBusy(false);
  };
  const connect = (wallet: Wallet) => attempt(async () => share(await (await load()).connectWallet(wallet)));
  const open = () =>
    attempt(async () => {
      const { findWallets, onWallets } = await load();
      const found = findWallets();
      setWallets(found);
      setStop(() => onWallets(() => setWallets(findWallets())));
      const [only] = found;
      if (found.length === 1 && only !== undefined) share(await (await load()).connectWallet(only));
    });

  return (
    <div class="stack wallets">
      {wallets === null || wallets.length < 2 ? (
        <button type="button" class={quiet ? 'start quiet' : ''} disabled={busy} onClick={open}>
          {label}
        </button>
      ) : (
        <WalletList wallets={wallets} disabled={busy} pick={connect} />
      )}
      {busy ? <Waiting what="Waiting for the wallet. Confirm in its window." usualSeconds={null} /> : null}
      {wallets?.length === 0 && !busy ? (
        <Notice kind="info" title="No Solana wallet was found in this browser.">
          <p>{otherwise}</p>
        </Notice>
      ) : null}
      <Failed failure={failure} />
    </div>
  );
}

const ConnectedAccount = ({ connected: { wallet, account } }: { connected: Connected }) => (
  <p class="row connected">
    <span class="mark good">connected</span>
    <span>
      {wallet.name} <code>{shortened(account.address, 4)}</code>
    </span>
    <button type="button" class="quiet small" onClick={() => share(null)}>
      Change wallet
    </button>
  </p>
);

type WalletListProps = {
  readonly wallets: readonly Wallet[];
  readonly disabled: boolean;
  readonly pick: (wallet: Wallet) => void;
};

const WalletList = ({ wallets, disabled, pick }: WalletListProps) => (
  <ul class="wallet-list" aria-label="Wallets in this browser">
    {wallets.map((wallet) => (
      <li>
        <button type="button" class="quiet" disabled={disabled} onClick={() => pick(wallet)}>
          <img src={wallet.icon} alt="" width="24" height="24" />
          {wallet.name}
        </button>
      </li>
    ))}
  </ul>
);

/** Runs one payment of an order at a time, in whichever tab. Resolves to false while another tab is paying. */
async function alone(lock: string, pay: () => Promise<void>): Promise<boolean> {
  if (!('locks' in navigator)) {
    await pay();
    return true;
  }
  return navigator.locks.request(`sluice:pay:${lock}`, { ifAvailable: true }, async (held) => {
    if (held === null) return false;
    await pay();
    return true;
  });
}

type WalletPaymentProps = {
  readonly label: string;
  readonly disabled?: boolean;
  /** Signs and sends, and returns the signature. */
  readonly run: (connected: Connected) => Promise<string>;
  /** Called with the signature, which is known before the chain confirms it. */
  readonly sent: (signature: string) => void;
  /** What a wallet app on a phone opens; this page if absent. */
  readonly page?: (() => string) | undefined;
  /** Name of what is paid: two tabs never pay for it at the same time. */
  readonly lock: string;
  /** Called before the wallet is asked. */
  readonly asked?: () => void;
  /** Called when certainly nothing was sent. */
  readonly unpaid?: () => void;
};

/** The visitor closed the wallet's window, or another tab is asking the wallet. */
type Noted = 'abandoned' | 'elsewhere' | null;

const WalletNote = ({ notice }: { notice: Noted }) =>
  notice === null ? null : notice === 'abandoned' ? (
    <Notice kind="info" title="Nothing is lost.">
      <p>If you approved the payment, it is found automatically. Otherwise it was not sent: try again.</p>
    </Notice>
  ) : (
    <Notice kind="warn" title="Another tab is asking your wallet to pay this.">
      <p>Finish there. This tab has not sent a payment.</p>
    </Notice>
  );

/** One payment by the connected wallet. */
export function WalletPayment({
  label,
  disabled = false,
  run,
  sent,
  page,
  lock,
  asked = () => undefined,
  unpaid = () => undefined,
}: WalletPaymentProps) {
  const connected = useConnected();
  const [attempt, setAttempt] = useState<symbol | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [notice, setNotice] = useState<Noted>(null);
  if (connected === null) return <ConnectWallet label="Connect a wallet" page={page} />;
  const pay = async (): Promise<void> => {
    setAttempt(Symbol(label));
    setFailure(null);
    setNotice(null);
    const isAlone = await alone(lock, async () => {
      asked();
      try {
        // The visitor may approve after "The wallet window is closed" was shown: the payment was then sent.
        sent(await run(connected));
      } catch (thrown) {
        const { failed, isUnsent } = await walletFailure(thrown);
        setFailure(failed);
        if (isUnsent) unpaid();
      }
    });
    if (!isAlone) setNotice('elsewhere');
    setAttempt(null);
  };
  return (
    <div class="stack">
      <ConnectWallet label="Connect a wallet" />
      <button type="button" disabled={disabled || attempt !== null} onClick={pay}>
        {label}
      </button>
      {attempt === null ? null : (
        <>
          <Waiting what="Approve the payment in your wallet." usualSeconds={null} />
          <button
            type="button"
            class="quiet small start"
            onClick={() => {
              setAttempt(null);
              setNotice('abandoned');
            }}
          >
            The wallet window is closed
          </button>
        </>
      )}
      {notice === 'elsewhere' || failure === null ? <WalletNote notice={notice} /> : null}
      <Failed failure={failure} />
    </div>
  );
}
