import type { Child } from 'hono/jsx';
import { Foreign } from './token-text.tsx';

type TokenLineProps = {
  readonly name: string;
  readonly symbol: string;
  readonly picture: Child;
  readonly children?: Child;
};

/** The token that an order buys, beside its price. */
export const TokenLine = ({ name, symbol, picture, children }: TokenLineProps) => (
  <div class="token-line">
    {picture}
    <div class="stacked">
      <h2 class="minor">
        <Foreign text={name} />{' '}
        <span class="fine">
          <Foreign text={symbol} />
        </span>
      </h2>
      {children}
    </div>
  </div>
);
