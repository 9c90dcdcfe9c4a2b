import type { Child } from 'hono/jsx';
import { Foreign } from './token-text.tsx';

type TokenLineProps = {
  /** What the visitor does for the token, before its name. */
  readonly does?: string | undefined;
  readonly name: string;
  readonly symbol: string;
  readonly picture: Child;
  readonly children?: Child;
};

/** The token that an order buys, beside its price. */
export const TokenLine = ({ does, name, symbol, picture, children }: TokenLineProps) => (
  <div class="token-line">
    {picture}
    <div class="stacked">
      <h2 class="minor">
        {does} <Foreign text={name} />{' '}
        <span class="fine">
          <Foreign text={symbol} />
        </span>
      </h2>
      {children}
    </div>
  </div>
);
