import { useEffect, useState } from 'hono/jsx';
import type { AsryClaim, AsryClaimRecord, AsryEpochs } from '../api/answers.ts';
import { CallFailed, call } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { Identifier } from './copyable.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { Choice, Field, Form } from './field.tsx';
import { fromUnixSeconds, instant, units } from './format.ts';
import { Failed, Notice, Waiting } from './notice.tsx';
import { Table } from './table.tsx';

const USD_DECIMALS = 6;
const POLL_MS = 2000;
/** Until a node shows a transaction as final. */
const CHAIN_SECONDS = 20;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/** Atoms of ASRY as whole ones; as atoms, and called so, until an epoch has told how many make one. */
function useAsryText(): (atoms: string) => string {
  const epochs = useAnswer<AsryEpochs>('/api/asry/epoch').value;
  const decimals = (epochs?.current ?? epochs?.past[0])?.asryDecimals;
  return (atoms) =>
    decimals === undefined ? `${units(atoms, 0)} atoms of ASRY` : `${units(atoms, decimals)} ASRY`;
}

const Deposit = ({ claim, asry }: { claim: AsryClaim; asry: (atoms: string) => string }) => (
  <dl class="facts" aria-label="Deposit">
    <dt>Received</dt>
    <dd>
      {units(claim.receive.creditedAtomic, USD_DECIMALS)} {claim.asset},{' '}
      {instant(fromUnixSeconds(claim.receive.blockTime))}
    </dd>
    <dt>Fee</dt>
    <dd>
      {units(claim.receive.feeAtomic, USD_DECIMALS)} {claim.asset}
    </dd>
    <dt>Earns</dt>
    <dd>
      <strong>{asry(claim.reward.entitlementAtomic)}</strong>, epoch {claim.receive.epoch}
    </dd>
    <dt>Goes to</dt>
    <dd>
      <Identifier text={claim.reward.recipient} label="recipient" ends={8} />
    </dd>
  </dl>
);

const STATES = { sent: 'good', pending: 'warn', owed: 'warn' } as const;

const isPaid = ({ payouts }: AsryClaimRecord): boolean =>
  payouts.length > 0 && payouts.every(({ paid_at: paidAt }) => paidAt !== null);

function ClaimRecord({ signature }: { signature: string }) {
  const answer = useAnswer<AsryClaimRecord>(
    `/api/asry/claims/${encodeURIComponent(signature)}`,
    POLL_MS,
    isPaid,
  );
  const asry = useAsryText();
  const record = answer.value;
  if (record === null)
    return answer.failure === null ? (
      <Waiting what="Reading the claim." />
    ) : (
      <Failed failure={answer.failure} retry={answer.refresh} />
    );
  const paid = isPaid(record);
  return (
    <div class="stack" data-claim={paid ? 'paid' : record.reward.status}>
      {paid ? (
        <Notice kind="good" title="The reward is paid and final." />
      ) : record.reward.status === 'owed' ? (
        <Notice kind="warn" title="The reward is yours, but cannot be sent yet.">
          <p>{record.reward.how_to_get ?? record.reward.reason ?? 'It is sent once it can be.'}</p>
        </Notice>
      ) : (
        <Waiting
          what="The reward is on its way. It is final in about 15 seconds."
          usualSeconds={CHAIN_SECONDS}
        />
      )}
      <Deposit claim={record} asry={asry} />
      <Table
        label="Payouts"
        columns={[
          { name: 'Part' },
          { name: 'Reward', right: true },
          { name: 'State' },
          { name: 'Transaction' },
        ]}
        rows={record.payouts.map((payout) => [
          String(payout.part),
          asry(payout.asryAtomic),
          <span class={`mark ${STATES[payout.status]}`}>
            {payout.paid_at === null ? payout.status : 'paid'}
          </span>,
          payout.signature === null ? 'none yet' : <SolanaTransaction signature={payout.signature} />,
        ])}
        empty="No payout yet."
      />
    </div>
  );
}

export function AsryClaimForm() {
  const [asset, setAsset] = useState('USDC');
  const [signature, setSignature] = useState('');
  const [preview, setPreview] = useState<AsryClaim | null>(null);
  const { busy, failure, attempt } = useAttempt<string>();
  const asry = useAsryText();
  const [claimed, setClaimed] = useState<string | null>(null);
  useEffect(() => setClaimed(fromAddressBar('claim')), []);
  const deposit = signature.trim();
  const wrong =
    deposit === '' || SIGNATURE.test(deposit)
      ? null
      : 'The signature of a Solana transaction: 64 to 88 letters and digits.';

  const follow = (): void => {
    toAddressBar('claim', deposit);
    setClaimed(deposit);
  };
  const look = () =>
    attempt('Reading the deposit. It has to be final, which takes up to 20 seconds.', () =>
      orFollow(async () => {
        const body = { asset, depositTxSignature: deposit, skipReward: true };
        setPreview((await call<AsryClaim>('/api/asry/claim-from-deposit', { body })).value);
      }),
    );
  const claim = () =>
    attempt('Claiming the reward.', () =>
      orFollow(async () => {
        const body = { asset, depositTxSignature: deposit };
        await call<AsryClaim>('/api/asry/claim-from-deposit', { body });
        follow();
      }),
    );
  /** What is claimed already is shown, whoever claimed it. */
  const orFollow = async (run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (thrown) {
      const code = thrown instanceof CallFailed ? thrown.failure.code : undefined;
      if (code !== 'ALREADY_CLAIMED' && code !== 'CLAIM_IN_PROGRESS') throw thrown;
      follow();
    }
  };
  const changed = (text: string): void => {
    setSignature(text);
    setPreview(null);
  };

  if (claimed !== null)
    return (
      <div class="card stack">
        <ClaimRecord signature={claimed} />
        <button
          type="button"
          class="quiet start"
          onClick={() => {
            toAddressBar('claim', null);
            setClaimed(null);
            changed('');
          }}
        >
          Another claim
        </button>
      </div>
    );
  return (
    <div class="card stack">
      <Form label="Claim" submit={look}>
        <Choice
          id="claim-asset"
          label="Deposited"
          value={asset}
          set={(next) => {
            setAsset(next);
            setPreview(null);
          }}
          options={[
            ['USDC', 'USDC'],
            ['USDT', 'USDT'],
          ]}
        />
        <Field
          id="claim-signature"
          label="Signature of the deposit"
          value={signature}
          set={changed}
          wrong={wrong}
          hint="Your wallet shows it with the transaction."
        />
        <button type="submit" class="start" disabled={busy !== null || deposit === '' || wrong !== null}>
          Look at the deposit
        </button>
      </Form>
      {busy === null ? null : <Waiting what={busy} usualSeconds={CHAIN_SECONDS} />}
      {preview === null ? null : (
        <>
          <Deposit claim={preview} asry={asry} />
          <p class="fine">Nothing was consumed yet. The claim pays the sender, whoever presses the button.</p>
          <button type="button" class="start" disabled={busy !== null} onClick={claim}>
            Claim the reward
          </button>
        </>
      )}
      {failure === null ? null : <Failed failure={failure} />}
    </div>
  );
}
