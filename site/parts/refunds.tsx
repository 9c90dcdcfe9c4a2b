import type { Refund } from '../../packages/client/src/index.ts';
import { Identifier } from './copyable.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { sol } from './format.ts';

const REFUND_REASONS: Readonly<Record<string, string>> = {
  double: 'a second payment for the same order',
  overpaid: 'more than the price',
  late: 'arrived after the order had expired',
  underpaid: 'less than the price',
  failed: 'the order could not be carried out',
};

/** What comes back, to whom, and who sends it. */
export const Refunds = ({ refunds }: { refunds: readonly Refund[] }) =>
  refunds.length === 0 ? null : (
    <ul class="holders" aria-label="Refunds">
      {refunds.map((refund) => (
        <li>
          <strong class="number">{sol(refund.lamports)} SOL</strong>{' '}
          {refund.status === 'paid' ? 'came back' : 'come back'}:{' '}
          {REFUND_REASONS[refund.reason] ?? refund.reason}. {refund.status === 'paid' ? 'Paid' : 'To be paid'}{' '}
          to{' '}
          {refund.payer === null ? (
            'the payer. Several accounts paid, so the operator asks you first.'
          ) : (
            <Identifier text={refund.payer} label="payer" ends={6} />
          )}
          <br />
          {refund.status === 'paid' ? (
            refund.refund_signature === null ? null : (
              <SolanaTransaction signature={refund.refund_signature} />
            )
          ) : (
            <span>
              The operator starts it by hand. You need not act. If you have a question,{' '}
              <a href="/trust#operator">contact the operator</a>.
            </span>
          )}
        </li>
      ))}
    </ul>
  );
