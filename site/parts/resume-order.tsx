import { later } from './later.tsx';
import { useOpenOrder } from './own-payment.ts';

const OpenOrderNotice = later(async () => (await import('./open-order.tsx')).OpenOrderNotice);

/** The way back to the last order of this browser that has not ended; nothing without one. */
export function ResumeOrder() {
  const order = useOpenOrder();
  return order === null ? null : <OpenOrderNotice order={order} />;
}
