import { useEffect, useState } from 'hono/jsx';
import type { AsryClaim, AsryClaimRecord } from '../../packages/client/src/index.ts';
import { parseAmount } from '../../src/core/amount.ts';
import { CallFailed, call, type Failure } from '../api/call.ts';
import { announceChange, useAnswer } from '../api/use-answer.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { amountFault, isAmount } from './amount-text.ts';
import { Earnings } from './asry-live.tsx';
import { CopyButton, Identifier } from './copyable.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { Choice, Field, Form } from './field.tsx';
import { fromUnixSeconds, units } from './format.ts';
import { Moment } from './freshness.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { type Step, Steps } from './steps.tsx';
import { Table } from './table.tsx';
import { useDraft } from './use-draft.ts';
import { WalletPayment } from './wallet.tsx';

const USD_DECIMALS = 6;
const POLL_MS = 2000;
/** Usual time until a node shows a transaction as final. */
const CHAIN_SECONDS = 20;
/** A deposit that no node shows after this many attempts of about 20 seconds did not reach the chain. */
const CLAIM_ATTEMPTS = 6;
const RETRY_SECONDS = 3;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const ASSETS = [
  ['USDC', 'USDC'],
  ['USDT', 'USDT'],
] as const;

const assetOf = (text: string): 'USDC' | 'USDT' => (text === 'USDT' ? 'USDT' : 'USDC');

/** ASRY atoms as whole ASRY; as atoms until an epoch has told the decimals. */
function useAsryText(): (atoms: string) => string {
  const epochs = useAnswer('getAsryEpoch', {}).value;
  const decimals = (epochs?.current ?? epochs?.past[0])?.asryDecimals;
  return (atoms) =>
    decimals === undefined ? `${units(atoms, 0)} atoms of ASRY` : `${units(atoms, decimals)} ASRY`;
}

const Deposit = ({ claim, asry }: { claim: AsryClaim; asry: (atoms: string) => string }) => (
  <dl class="receipt" aria-label="Deposit">
    <div>
      <dt>Received</dt>
      <dd>
        {units(claim.receive.creditedAtomic, USD_DECIMALS)} {claim.asset}
        <br />
        <span class="fine">
          <Moment iso={fromUnixSeconds(claim.receive.blockTime)} />
        </span>
      </dd>
    </div>
    <div>
      <dt>Fee</dt>
      <dd>
        {units(claim.receive.feeAtomic, USD_DECIMALS)} {claim.asset}
      </dd>
    </div>
    <div class="total">
      <dt>Earns, epoch {claim.receive.epoch}</dt>
      <dd>{asry(claim.reward.entitlementAtomic)}</dd>
    </div>
    <div>
      <dt>Goes to</dt>
      <dd>
        <Identifier text={claim.reward.recipient} label="recipient" ends={8} />
      </dd>
    </div>
  </dl>
);

const STATES = { sent: 'good', pending: 'warn', owed: 'warn' } as const;

const isPaid = ({ payouts }: AsryClaimRecord): boolean =>
  payouts.length > 0 && payouts.every(({ paid_at: paidAt }) => paidAt !== null);

function ClaimRecord({ signature }: { signature: string }) {
  const answer = useAnswer('getAsryClaim', { signature }, POLL_MS, isPaid);
  const asry = useAsryText();
  const record = answer.value;
  const paid = record !== null && isPaid(record);
  useEffect(() => {
    if (record !== null) announceChange();
  }, [paid, record === null]);
  if (record === null)
    return answer.failure === null ? (
      <Waiting what="Reading the claim." />
    ) : (
      <Failed failure={answer.failure} retry={answer.refresh} />
    );
  return (
    <div class="stack" data-claim={paid ? 'paid' : record.reward.status}>
      {paid ? (
        <Notice kind="good" title="The reward is paid and final." />
      ) : record.reward.status === 'owed' ? (
        <Notice kind="warn" title="The reward is yours, but cannot be sent yet.">
          <p>
            {record.reward.how_to_get ?? record.reward.reason ?? 'It is sent as soon as that is possible.'}
          </p>
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
          `Part ${payout.part}`,
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

/** A claim that exists already is followed, whichever call made it. */
const isClaimed = ({ code }: Failure): boolean => code === 'ALREADY_CLAIMED' || code === 'CLAIM_IN_PROGRESS';
const isEarly = ({ code }: Failure): boolean => code === 'DEPOSIT_NOT_FOUND' || code === 'DEPOSIT_NOT_FINAL';
const failed = (thrown: unknown): Failure | null => (thrown instanceof CallFailed ? thrown.failure : null);

/** Claims as soon as the deposit is final. @throws CallFailed when that takes too long or is refused */
async function claimWhenFinal(asset: string, depositTxSignature: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await call('claimFromDeposit', { asset: assetOf(asset), depositTxSignature });
      return;
    } catch (thrown) {
      const failure = failed(thrown);
      if (failure !== null && isClaimed(failure)) return;
      if (failure === null || !isEarly(failure) || attempt === CLAIM_ATTEMPTS) throw thrown;
      const seconds = failure.retryAfterSeconds ?? RETRY_SECONDS;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}

const depositSteps = (signature: string): Step[] => [
  { name: 'Deposit sent', state: 'done', detail: <SolanaTransaction signature={signature} /> },
  { name: 'Final on Solana, then claimed', state: 'now', detail: 'about 15 seconds' },
  { name: 'Reward paid to your wallet', state: 'open' },
];

/** Runs the claim of a deposit that was sent from this page; a reload resumes it. */
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
      <Steps label="Progress of the deposit" steps={depositSteps(signature)} />
      {busy === null ? null : (
        <Waiting what="You may close this page: this address claims the deposit again." usualSeconds={null} />
      )}
      {failure === null ? null : <Failed failure={failure} retry={run} />}
    </div>
  );
}

function DepositForm({ sent }: { sent: (asset: string, signature: string) => void }) {
  const epochs = useAnswer('getAsryEpoch', {}).value;
  const [draft, setDraft, forget] = useDraft('deposit', { asset: 'USDC', amount: '25' });
  const { asset, amount } = draft;
  const fault = amountFault(amount, USD_DECIMALS, asset);
  const target = epochs?.deposit;
  const mint = asset === 'USDT' ? target?.mints.USDT : target?.mints.USDC;
  const parsed = parseAmount(amount.trim(), USD_DECIMALS);
  const ready = target?.address && mint && parsed.ok && isAmount(amount, USD_DECIMALS, asset);
  return (
    <div class="stack">
      <div class="pair">
        <Choice
          id="deposit-asset"
          label="Asset"
          value={asset}
          set={(next) => setDraft({ ...draft, asset: next })}
          options={ASSETS}
        />
        <Field
          id="deposit-amount"
          label="Amount"
          unit={asset}
          keys="decimal"
          value={amount}
          set={(next) => setDraft({ ...draft, amount: next })}
          wrong={fault}
        />
      </div>
      {epochs?.current && parsed.ok ? <Earnings epoch={epochs.current} deposit={parsed.atoms} /> : null}
      <p class="fine">
        A deposit is a payment, not a loan: it is not returned. The reward goes to the wallet that sends it.
      </p>
      <WalletPayment
        label={`Deposit ${amount.trim()} ${asset} and claim`}
        disabled={!ready}
        run={async (connected) => {
          if (!target?.address || !mint || !parsed.ok)
            throw new Error('The deposit address is not known yet.');
          const { depositDollars } = await import('../wallet/transfers.ts');
          const { address: to, decimals } = target;
          return depositDollars(connected, { to, mint, atoms: parsed.atoms, decimals });
        }}
        sent={(signature) => {
          forget();
          sent(asset, signature);
        }}
      />
      <details>
        <summary>Deposit without a wallet in this browser</summary>
        {target?.address ? (
          <dl class="facts">
            <dt>Send {asset} to</dt>
            <dd>
              <Identifier text={target.address} label="the treasury address" ends={10} />
            </dd>
            <dt>From</dt>
            <dd>your own wallet, not an exchange: the reward goes to the sender</dd>
            <dt>Then</dt>
            <dd>enter the signature of the transaction below</dd>
          </dl>
        ) : null}
      </details>
    </div>
  );
}

function SignatureForm({ follow }: { follow: (signature: string) => void }) {
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
      const failure = failed(thrown);
      if (failure === null || !isClaimed(failure)) throw thrown;
      follow(signature);
    }
  };
  const check = () =>
    attempt('Reading the deposit. It has to be final, which takes up to 20 seconds.', () =>
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
          label="Deposited"
          value={draft.asset}
          set={(asset) => change({ asset })}
          options={ASSETS}
        />
        <Field
          id="claim-signature"
          label="Signature of the deposit"
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
          Check deposit
        </button>
      </Form>
      {busy === null ? null : <Waiting what={busy} usualSeconds={CHAIN_SECONDS} />}
      {preview === null ? null : (
        <>
          <Deposit claim={preview} asry={asry} />
          <p class="fine">Nothing was consumed yet. The claim pays the sender of the deposit.</p>
          <button type="button" class="start" disabled={busy !== null} onClick={claim}>
            Claim the reward
          </button>
        </>
      )}
      {failure === null ? null : <Failed failure={failure} />}
    </div>
  );
}

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
    setView(next);
  };
  const follow = (signature: string): void => show({ type: 'claim', signature });

  if (view.type === 'form')
    return (
      <div class="card stack">
        <DepositForm sent={(asset, signature) => show({ type: 'deposit', asset, signature })} />
        <details class="more">
          <summary>Claim a deposit that was sent already</summary>
          <SignatureForm follow={follow} />
        </details>
      </div>
    );
  return (
    <div class="card stack">
      {view.type === 'deposit' ? (
        <ClaimDeposit deposit={view} claimed={() => follow(view.signature)} />
      ) : (
        <ClaimRecord signature={view.signature} />
      )}
      <p class="row">
        <button type="button" class="quiet start" onClick={() => show({ type: 'form' })}>
          Another claim
        </button>
        <CopyButton text={view.signature} label="the signature of the deposit" />
      </p>
    </div>
  );
}
