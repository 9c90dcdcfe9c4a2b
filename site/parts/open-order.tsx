import { Age } from './freshness.tsx';
import { Notice } from './notice.tsx';
import { forgetOrder, type OpenOrder } from './own-payment.ts';
import { Foreign } from './token-text.tsx';

export const OpenOrderNotice = ({ order }: { order: OpenOrder }) => (
  <Notice kind="info" title="You have an unfinished order.">
    <p>
      <Foreign text={order.name} />, ordered <Age iso={new Date(order.at).toISOString()} />. If you paid it,
      do not pay again.
    </p>
    <p class="row">
      <a class="button" href={`/tokens/new?invoice=${order.id}`}>
        Resume your order
      </a>
      <button type="button" class="quiet" onClick={() => forgetOrder(order.id)}>
        Forget it
      </button>
    </p>
  </Notice>
);
