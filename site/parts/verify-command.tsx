import { useEffect, useState } from 'hono/jsx';
import type { Assets } from '../build/assets.ts';
import { PUBLIC_SOURCES } from '../build/host-files.ts';
import { CheckSource } from './check-source.tsx';
import { CopyBlock } from './copyable.tsx';

/**
 * The check of this site from a terminal, with its own address.
 * @param source web address of the repository; null in a demonstration, whose folder has the check
 * @param built origin that the build knows, for a reader without scripts; empty if it knows none
 */
export function VerifyCommand({ source, built = '' }: { source: string | null; built?: string }) {
  const [origin, setOrigin] = useState(built || 'https://<this site>');
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

type TerminalCheckProps = Pick<Assets, 'release' | 'isDemonstration' | 'origin'>;

/** The command with what it runs. The element's data let a page's script render the command again. */
export const TerminalCheck = ({ release: { source }, isDemonstration, origin }: TerminalCheckProps) => (
  <>
    <p>
      {isDemonstration
        ? 'In the folder of this demonstration. The command asks the simulated explorers and node.'
        : 'With explorers and a node of your choice.'}{' '}
      Both run <CheckSource source={source} />.
    </p>
    <div data-island="command" {...(isDemonstration ? {} : { 'data-source': source })}>
      <VerifyCommand source={isDemonstration ? null : source} built={origin} />
    </div>
  </>
);

/** The command of the page, with the source that its element may name. */
export const PageCommand = () => (
  <VerifyCommand
    source={document.querySelector<HTMLElement>('[data-island="command"]')?.dataset.source ?? null}
  />
);
