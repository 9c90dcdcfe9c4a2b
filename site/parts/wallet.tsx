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

async function walletFailure(thrown: unknown): Promise<Failure> {
  const { WalletProblem } = await import('../wallet/problem.ts');
  return thrown instanceof WalletProblem ? thrown.failure : failureFrom(thrown);
}

/** Lists the wallets of this browser and connects one. Shows nothing once connected. */
export function ConnectWallet({ label, quiet = false }: { label: string; quiet?: boolean }) {
  const connected = useConnected();
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
      setFailure(await walletFailure(thrown));
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

  if (connected !== null)
    return (
      <p class="row connected">
        <span class="mark good">connected</span>
        <span>
          {connected.wallet.name} <code>{shortened(connected.account.address, 4)}</code>
        </span>
        <button type="button" class="quiet small" onClick={() => share(null)}>
          Change wallet
        </button>
      </p>
    );
  return (
    <div class="stack wallets">
      {wallets === null || wallets.length < 2 ? (
        <button type="button" class={`start${quiet ? ' quiet' : ''}`} disabled={busy} onClick={open}>
          {label}
        </button>
      ) : (
        <ul class="wallet-list" aria-label="Wallets in this browser">
          {wallets.map((wallet) => (
            <li>
              <button type="button" class="quiet" disabled={busy} onClick={() => connect(wallet)}>
                <img src={wallet.icon} alt="" width="24" height="24" />
                {wallet.name}
              </button>
            </li>
          ))}
        </ul>
      )}
      {busy ? <Waiting what="Waiting for the wallet. Confirm in its window." usualSeconds={null} /> : null}
      {wallets?.length === 0 && !busy ? (
        <Notice kind="info" title="No Solana wallet was found in this browser.">
          <p>
            Install one, such as Phantom, Solflare or Backpack, and press the button again. On a phone, open
            this page in the browser of the wallet app.
          </p>
        </Notice>
      ) : null}
      {failure === null ? null : <Failed failure={failure} />}
    </div>
  );
}

/**
 * One payment by the connected wallet.
 * @param run signs and sends, and returns the signature
 * @param sent called with the signature, which is known before the chain confirms it
 */
export function WalletPayment({
  label,
  disabled = false,
  run,
  sent,
}: {
  label: string;
  disabled?: boolean;
  run: (connected: Connected) => Promise<string>;
  sent: (signature: string) => void;
}) {
  const connected = useConnected();
  const [attempt, setAttempt] = useState<symbol | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [abandoned, setAbandoned] = useState(false);
  if (connected === null) return <ConnectWallet label="Connect a wallet" />;
  const pay = async (): Promise<void> => {
    setAttempt(Symbol(label));
    setFailure(null);
    setAbandoned(false);
    try {
      // An approval after "Stop waiting" still counts: the payment was sent.
      sent(await run(connected));
    } catch (thrown) {
      setFailure(await walletFailure(thrown));
    }
    setAttempt(null);
  };
  return (
    <div class="stack">
      <ConnectWallet label="Connect a wallet" />
      <button type="button" class="start" disabled={disabled || attempt !== null} onClick={pay}>
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
              setAbandoned(true);
            }}
          >
            The wallet window is closed
          </button>
        </>
      )}
      {abandoned && failure === null ? (
        <Notice kind="info" title="Nothing is lost.">
          <p>If you approved the payment, it is found automatically. If not, nothing was sent: try again.</p>
        </Notice>
      ) : null}
      {failure === null ? null : <Failed failure={failure} />}
    </div>
  );
}
