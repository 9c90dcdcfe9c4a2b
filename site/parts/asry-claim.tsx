import { useEffect, useState } from 'hono/jsx';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { SignatureForm } from './claim-by-signature.tsx';
import { claimWhenFinal } from './claim-call.ts';
import { ClaimRecord } from './claim-record.tsx';
import { CopyButton } from './copyable.tsx';
import { DepositForm } from './deposit-form.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { Failed, Waiting } from './notice.tsx';
import { type Step, Steps } from './steps.tsx';

const depositSteps = (signature: string): Step[] => [
  { name: 'Payment sent', state: 'done', detail: <SolanaTransaction signature={signature} /> },
  { name: 'Final on Solana, then claimed', state: 'now', detail: 'a few seconds' },
  { name: 'Reward paid to your wallet', state: 'open' },
];

/** Claims a deposit that was sent from this page; a reload resumes it. */
function ClaimDeposit({
  deposit: { asset, signature },
  claimed,
}: {
  deposit: { readonly asset: string; readonly signature: string };
  claimed: () => void;
}) {
  const { busy, failure, attempt } = useAttempt<'claim'>();
  const run = () =>
    attempt('claim', async () => {
      await claimWhenFinal(asset, signature);
      claimed();
    });
  useEffect(() => void run(), [signature]);
  return (
    <div class="stack" data-deposit={signature}>
      <Steps label="Progress of the payment" steps={depositSteps(signature)} />
      {busy === null ? null : (
        <Waiting
          what="You may close this page, and open its address later to claim the payment."
          usualSeconds={null}
        />
      )}
      <Failed failure={failure} retry={run} />
    </div>
  );
}

const RESULT = 'claim-result';

type View =
  | { readonly type: 'form' }
  | { readonly type: 'deposit'; readonly asset: string; readonly signature: string }
  | { readonly type: 'claim'; readonly signature: string };

/** Deposit by wallet and claim in one flow, or claim a deposit by its signature. */
export function AsryClaimForm() {
  const [view, setView] = useState<View>({ type: 'form' });
  useEffect(() => {
    const claim = fromAddressBar('claim');
    const deposit = fromAddressBar('deposit');
    if (claim !== null) setView({ type: 'claim', signature: claim });
    else if (deposit !== null)
      setView({ type: 'deposit', asset: fromAddressBar('asset') ?? 'USDC', signature: deposit });
  }, []);
  const show = (next: View): void => {
    toAddressBar('claim', next.type === 'claim' ? next.signature : null);
    toAddressBar('deposit', next.type === 'deposit' ? next.signature : null);
    toAddressBar('asset', next.type === 'deposit' ? next.asset : null);
    toAddressBar('amount', null);
    setView(next);
    // A longer form above the visitor's view is replaced by this shorter card.
    if (view.type === 'form') setTimeout(() => document.getElementById(RESULT)?.focus());
  };
  const follow = (signature: string): void => show({ type: 'claim', signature });

  if (view.type === 'form')
    return (
      <div class="card stack">
        <DepositForm sent={(asset, signature) => show({ type: 'deposit', asset, signature })} />
        <details class="more">
          <summary>Claim a payment that was already sent</summary>
          <SignatureForm follow={follow} />
        </details>
      </div>
    );
  return (
    <div class="card stack" id={RESULT} tabindex={-1}>
      {view.type === 'deposit' ? (
        <ClaimDeposit deposit={view} claimed={() => follow(view.signature)} />
      ) : (
        <ClaimRecord signature={view.signature} />
      )}
      <p class="row">
        <button type="button" class="quiet start" onClick={() => show({ type: 'form' })}>
          Another claim
        </button>
        <CopyButton text={view.signature} label="signature of the payment" name="Copy signature" />
      </p>
    </div>
  );
}
