import type { Token } from '../../packages/client/src/index.ts';
import { useQuery } from '../api/query.ts';
import { OwnPicture } from './own-picture.tsx';
import { Foreign } from './token-text.tsx';
import { tokenUrl } from './token-url.ts';

const SHOWN = 5;

const Face = ({ token: { name, symbol, image, mint_address: mint } }: { token: Token }) => (
  <li>
    <OwnPicture symbol={symbol} seed={mint} image={image} />
    <a href={tokenUrl(mint)}>
      <Foreign text={name} />
    </a>
  </li>
);

/** Pictures and names of the newest tokens of others; nothing without one. */
export function NewestTokens() {
  const tokens = useQuery('listTokens', { limit: SHOWN }).value?.tokens ?? [];
  return (
    <ul class="faces" aria-label="Newest tokens">
      {tokens.map((token) => (
        <Face token={token} />
      ))}
    </ul>
  );
}
