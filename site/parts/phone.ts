import { useEffect, useState } from 'hono/jsx';

/** A screen of the width of a phone, as in the style sheet. */
const PHONE = '(width < 40rem)';

export function useIsPhone(): boolean {
  const [isPhone, setPhone] = useState(false);
  useEffect(() => {
    const query = matchMedia(PHONE);
    const changed = (): void => setPhone(query.matches);
    changed();
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return isPhone;
}

/**
 * Whether a wallet is in this browser: it registers when a page says that it is ready, or later by itself. Loads no
 * wallet code.
 * @see https://github.com/wallet-standard/wallet-standard
 */
export function useHasWallet(): boolean {
  const [hasWallet, setHasWallet] = useState(false);
  useEffect(() => {
    const register = (): void => setHasWallet(true);
    window.addEventListener('wallet-standard:register-wallet', register);
    window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: { register } }));
    return () => window.removeEventListener('wallet-standard:register-wallet', register);
  }, []);
  return hasWallet;
}
