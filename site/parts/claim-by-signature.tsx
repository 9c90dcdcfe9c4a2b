import { useState } from 'hono/jsx';
import type { AsryClaim } from '../../packages/client/src/index.ts';
import { call } from '../api/call.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { ASSETS, assetOf, failureOfCall, isClaimed } from './claim-call.ts';
import { CHAIN_SECONDS, Deposit, useAsryText } from './claim-record.tsx';
import { Choice, Field, Form } from './field.tsx';
import { Failed, Waiting } from './notice.tsx';
import { useDraft } from './use-draft.ts';

const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

type Draft = { readonly asset: string; readonly signature: string };

/** Runs a claim. If the payment already has a claim, follows that claim. */
async function orFollow(run: () => Promise<void>, follow: () => void): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    const failure = failureOfCall(thrown);
    if (failure === null || !isClaimed(failure)) throw thrown;
    follow();
  }
}

export function SignatureForm({ follow }: { follow: (signature: string) => void }) {
  const [draft, setDraft] = useDraft<Draft>('claim', { asset: 'USDC', signature: '' });
  const [preview, setPreview] = useState<AsryClaim | null>(null);
  const { busy, failure, attempt } = useAttempt<string>();
  const asry = useAsryText();
  const signature = draft.signature.trim();
  const done = (): void => follow(signature);
  const send = (skipReward: boolean) =>
    call('claimFromDeposit', {
      asset: assetOf(draft.asset),
      depositTxSignature: signature,
      skipReward,
    });
  const check = () =>
    attempt('Reading the payment. It must be final, which takes a few seconds.', () =>
      orFollow(async () => setPreview((await send(true)).value), done),
    );
  const claim = () =>
    attempt('Claiming the reward.', () =>
      orFollow(async () => {
        await send(false);
        done();
      }, done),
    );
  const change = (next: Draft): void => {
    setDraft(next);
    setPreview(null);
  };
  return (
    <div class="stack">
      <PaymentNamed draft={draft} change={change} busy={busy !== null} check={check} />
      {busy === null ? null : <Waiting what={busy} usualSeconds={CHAIN_SECONDS} />}
      {preview === null ? null : (
        <>
          <Deposit claim={preview} asry={asry} />
          <p class="fine">The reward is not claimed yet. It goes to the sender of the payment.</p>
          <button type="button" class="start" disabled={busy !== null} onClick={claim}>
            Claim the reward
          </button>
        </>
      )}
      <Failed failure={failure} />
    </div>
  );
}

type PaymentNamedProps = {
  readonly draft: Draft;
  readonly change: (next: Draft) => void;
  readonly busy: boolean;
  readonly check: () => void;
};

/** The asset and the signature of a payment. */
function PaymentNamed({ draft, change, busy, check }: PaymentNamedProps) {
  const signature = draft.signature.trim();
  const wrong =
    signature === '' || SIGNATURE.test(signature)
      ? null
      : `Not a Solana signature: 64 to 88 letters and digits are needed, ${signature.length} were entered.`;
  return (
    <Form label="Claim by signature" submit={check}>
      <Choice
        id="claim-asset"
        label="Paid with"
        value={draft.asset}
        set={(asset) => change({ ...draft, asset })}
        options={ASSETS}
      />
      <Field
        id="claim-signature"
        label="Signature of the payment"
        value={draft.signature}
        set={(text) => change({ ...draft, signature: text })}
        wrong={wrong}
        hint="Your wallet shows it with the transaction."
      />
      <button type="submit" class="quiet start" disabled={busy || signature === '' || wrong !== null}>
        Check payment
      </button>
    </Form>
  );
}
