import { useEffect, useState } from 'hono/jsx';
import { PUBLIC_SOURCES } from '../build/host-files.ts';
import { CheckSource } from './check-source.tsx';
import { CopyBlock } from './copyable.tsx';

/**
 * The check of this site from a terminal, with its own address.
 * @param source web address of the repository; null in a demonstration, whose folder has the check
 */
export function VerifyCommand({ source }: { source: string | null }) {
  const [origin, setOrigin] = useState('https://<this site>');
  useEffect(() => setOrigin(location.origin), []);
  const check = `npm run verify -- ${origin}`;
  return (
    <CopyBlock
      label="the command"
      text={
        source === null
          ? check
          : `git clone ${source} sluice && cd sluice && npm ci\n${check} --explorers ${PUBLIC_SOURCES.explorers.join(',')}`
      }
    />
  );
}

type TerminalCheckProps = { readonly source: string; readonly isDemonstration: boolean };

/** The command with what it runs. The element's data let a page's script render the command again. */
export const TerminalCheck = ({ source, isDemonstration }: TerminalCheckProps) => (
  <>
    <p>
      {isDemonstration
        ? 'In the folder of this demonstration. The command asks the simulated explorers and node.'
        : 'With explorers and a node of your choice.'}{' '}
      Both run <CheckSource source={source} />.
    </p>
    <div data-island="command" {...(isDemonstration ? {} : { 'data-source': source })}>
      <VerifyCommand source={isDemonstration ? null : source} />
    </div>
  </>
);

/** The command of the page, with the source that its element may name. */
export const PageCommand = () => (
  <VerifyCommand
    source={document.querySelector<HTMLElement>('[data-island="command"]')?.dataset.source ?? null}
  />
);
