import type { TokenRecord } from '../../packages/client/src/index.ts';
import { tokenHead } from '../../src/chain/solana/token-head.ts';
import { Foreign } from './token-text.tsx';

/** How a chat shows the link of a token's page, from the same texts as the head of that page. */
export function LinkPreview({ token }: { token: TokenRecord }) {
  const { title, description } = tokenHead(token, location.origin);
  return (
    <figure class="link-preview" aria-label="The link in a chat">
      <img src="/icon-512.png" alt="" width="80" height="80" />
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
