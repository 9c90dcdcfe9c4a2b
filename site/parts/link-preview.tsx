import type { TokenRecord } from '../../packages/client/src/index.ts';
import { tokenHead } from '../../src/chain/solana/token-head.ts';
import { OwnPicture } from './own-picture.tsx';
import { Foreign } from './token-text.tsx';

/** How a chat shows the link of a token's page, from the same texts as the head of that page. */
export function LinkPreview({ token }: { token: TokenRecord }) {
  const { title, description } = tokenHead(token, location.origin);
  return (
    <figure class="link-preview" aria-label="The link in a chat">
      <OwnPicture symbol={token.symbol} seed={token.mint_address} image={token.image} />
      <figcaption>
        <strong>
          <Foreign text={title} />
        </strong>
        <span class="says fine">
          <Foreign text={description} />
        </span>
        <span class="fine">{location.host}</span>
      </figcaption>
    </figure>
  );
}
