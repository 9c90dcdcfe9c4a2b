import { useState } from 'hono/jsx';
import { shortened } from './format.ts';

const SHOWN_MS = 2000;

/** A button that copies and confirms it, also to screen readers. */
export function CopyButton({
  text,
  label,
  name = 'Copy',
}: {
  text: string;
  /** Name of the copied text, for screen readers. */
  label: string;
  /** The visible name, where the place does not show what is copied. */
  name?: string;
}) {
  const [said, setSaid] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Select and copy by hand');
    }
    setTimeout(() => setSaid(''), SHOWN_MS);
  };
  return (
    <span class="copy">
      <button type="button" class="quiet small" aria-label={`Copy ${label}`} onClick={copy}>
        {said === '' ? name : said}
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
