import { useEffect, useState } from 'hono/jsx';
import { PUBLIC_SOURCES } from '../build/host-files.ts';
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
