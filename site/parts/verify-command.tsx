import { useEffect, useState } from 'hono/jsx';
import { PUBLIC_SOURCES } from '../build/host-files.ts';
import { CheckSource } from './check-source.tsx';
import { CopyBlock } from './copyable.tsx';

/** The check of this site from a terminal, with its own address. @param source web address of the repository */
export function VerifyCommand({ source }: { source: string }) {
  const [origin, setOrigin] = useState('https://<this site>');
  useEffect(() => setOrigin(location.origin), []);
  return (
    <CopyBlock
      label="the command"
      text={`git clone ${source} sluice && cd sluice && npm ci\nnpm run verify -- ${origin} --explorers ${PUBLIC_SOURCES.explorers.join(',')}`}
    />
  );
}

/** The command with what it runs. The element's data let a page's script render the command again. */
export const TerminalCheck = ({ source }: { source: string }) => (
  <>
    <p>
      With explorers and a node of your choice. Both run <CheckSource source={source} />.
    </p>
    <div data-island="command" data-source={source}>
      <VerifyCommand source={source} />
    </div>
  </>
);

/** The command of the page, with the source that its element names. */
export const PageCommand = () => (
  <VerifyCommand
    source={document.querySelector<HTMLElement>('[data-island="command"]')?.dataset.source ?? ''}
  />
);
