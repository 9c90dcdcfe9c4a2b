import { useState } from 'hono/jsx';
import { shortened } from './format.ts';

const SHOWN_MS = 2000;

const SHEETS = 'M8 8h9v9H8zM8 13H3V3h10v5';
const TICK = 'M4 10.500l4 4L16 5.500';

const CopyIcon = ({ copied }: { copied: boolean }) => (
  <svg class="icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
    <path d={copied ? TICK : SHEETS} />
  </svg>
);

const COPIED = 'Copied';

/** A button that copies a text and confirms the copy, also to screen readers. */
export function CopyButton({
  text,
  label,
  name,
}: {
  text: string;
  /** Name of the copied text, for screen readers. */
  label: string;
  /** The visible label; absent where the context shows what is copied: the button is then an icon. */
  name?: string;
}) {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(COPIED);
    } catch {
      setSaid('Select and copy by hand');
    }
    setTimeout(() => setSaid(''), SHOWN_MS);
  };
  return (
    <span class="copy">
      <button
        type="button"
        class={name === undefined ? 'quiet icon-button' : 'quiet'}
        aria-label={`Copy ${label}`}
        title={`Copy ${label}`}
        onClick={copy}
      >
        {name === undefined && (said === '' || said === COPIED) ? (
          <CopyIcon copied={said === COPIED} />
        ) : (
          said || name
        )}
      </button>
      <span class="unseen" role="status">
        {said === '' ? '' : `${label}: ${said}`}
      </span>
    </span>
  );
}

/** An address, signature or hash: shortened for display, copied in full. */
export const Identifier = ({ text, label, ends = 6 }: { text: string; label: string; ends?: number }) => (
  <span class="identifier">
    <code title={text}>{shortened(text, ends)}</code>
    <CopyButton text={text} label={label} />
  </span>
);

/** An amount or address in full, to copy or to compare with the wallet. */
export const Whole = ({ text, label, unit }: { text: string; label: string; unit?: string }) => (
  <span class="identifier whole">
    <span>
      <code>{text}</code> {unit}
    </span>
    <CopyButton text={text} label={label} />
  </span>
);

/** A whole text to copy; lines that do not fit scroll. */
export const CopyBlock = ({ text, label }: { text: string; label: string }) => (
  <div class="copy-block">
    <section class="text" tabindex={0} aria-label={label}>
      <pre>
        <code>{text}</code>
      </pre>
    </section>
    <CopyButton text={text} label={label} />
  </div>
);
