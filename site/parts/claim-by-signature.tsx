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

export function SignatureForm({ follow }: { follow: (signature: string) => void }) {
  const [draft, setDraft] = useDraft('claim', { asset: 'USDC', signature: '' });
  const [preview, setPreview] = useState<AsryClaim | null>(null);
  const { busy, failure, attempt } = useAttempt<string>();
  const asry = useAsryText();
  const signature = draft.signature.trim();
  const wrong =
    signature === '' || SIGNATURE.test(signature)
      ? null
      : `Not a Solana signature: 64 to 88 letters and digits are needed, ${signature.length} were entered.`;
  const send = (skipReward: boolean) =>
    call('claimFromDeposit', {
      asset: assetOf(draft.asset),
      depositTxSignature: signature,
      skipReward,
    });
  const orFollow = async (run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (thrown) {
      const failure = failureOfCall(thrown);
      if (failure === null || !isClaimed(failure)) throw thrown;
      follow(signature);
    }
  };
  const check = () =>
    attempt('Reading the payment. It must be final, which takes a few seconds.', () =>
      orFollow(async () => setPreview((await send(true)).value)),
    );
  const claim = () =>
    attempt('Claiming the reward.', () =>
      orFollow(async () => {
        await send(false);
        follow(signature);
      }),
    );
  const change = (next: Partial<typeof draft>): void => {
    setDraft({ ...draft, ...next });
    setPreview(null);
  };
  return (
    <div class="stack">
      <Form label="Claim by signature" submit={check}>
        <Choice
          id="claim-asset"
          label="Paid with"
          value={draft.asset}
          set={(asset) => change({ asset })}
          options={ASSETS}
        />
        <Field
          id="claim-signature"
          label="Signature of the payment"
          value={draft.signature}
          set={(text) => change({ signature: text })}
          wrong={wrong}
          hint="Your wallet shows it with the transaction."
        />
        <button
          type="submit"
          class="quiet start"
          disabled={busy !== null || signature === '' || wrong !== null}
        >
          Check payment
        </button>
      </Form>
      {busy === null ? null : <Waiting what={busy} usualSeconds={CHAIN_SECONDS} />}
      {preview === null ? null : (
        <>
          <Deposit claim={preview} asry={asry} />
          <p class="fine">Nothing was claimed yet. The reward goes to the sender of the payment.</p>
          <button type="button" class="start" disabled={busy !== null} onClick={claim}>
            Claim the reward
          </button>
        </>
      )}
      <Failed failure={failure} />
    </div>
  );
}
