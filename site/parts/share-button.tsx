import { useState } from 'hono/jsx';

const SHOWN_MS = 2000;

type ShareButtonProps = {
  readonly path: string;
  readonly title: string;
  /** Whether another button of its row is the main button. */
  readonly isQuiet: boolean;
};

/** Shares a page of this site with the system's own dialog, or copies its address. */
export function ShareButton({ path, title, isQuiet }: ShareButtonProps) {
  const [said, setSaid] = useState('');
  const share = async (): Promise<void> => {
    const url = new URL(path, location.href).href;
    try {
      if (typeof navigator.share === 'function') {
        await navigator.share({ title, url });
        return;
      }
      await navigator.clipboard.writeText(url);
      setSaid('Copied');
    } catch {
      // Closed by the visitor, or refused by the browser.
      setSaid('Not shared');
    }
    setTimeout(() => setSaid(''), SHOWN_MS);
  };
  return (
    <button type="button" class={isQuiet ? 'quiet share' : 'share'} onClick={share}>
      {said === '' ? 'Share' : said}
    </button>
  );
}
