/**
 * What the desks do when a journal is rebuilt, together.
 * @module
 */
import type { AsryDesk } from '../asry/claims.ts';
import type { PaymentDesk } from '../payments/payment-requests.ts';

export function recoveryOf(payments: PaymentDesk | undefined, claims: AsryDesk | undefined) {
  const rebuilt = [payments, claims].filter((each) => each !== undefined);
  return {
    async restoreRecords(): Promise<number> {
      let restored = 0;
      for (const each of rebuilt) restored += await each.restoreRecords();
      return restored;
    },
    holdDoubtful(): void {
      for (const each of rebuilt) each.holdDoubtful();
    },
    ...(payments ? { recognize: payments.recognize } : {}),
  };
}
