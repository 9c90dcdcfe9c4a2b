import { useEffect } from 'hono/jsx';
import type { AsryClaim, AsryClaimRecord } from '../../packages/client/src/index.ts';
import { announceChange, useQuery } from '../api/query.ts';
import { Identifier } from './copyable.tsx';
import { SolanaTransaction } from './explorer-links.tsx';
import { fromUnixSeconds, units } from './format.ts';
import { Moment } from './freshness.tsx';
import { Loaded } from './loaded.tsx';
import { Notice, Waiting } from './notice.tsx';
import { Table } from './table.tsx';

const USD_DECIMALS = 6;
const POLL_MS = 2000;
/** Usual time until a node shows a transaction as final. */
export const CHAIN_SECONDS = 5;

/** ASRY atoms as whole ASRY; as atoms until an epoch shows the decimals. */
export function useAsryText(): (atoms: string) => string {
  const epochs = useQuery('getAsryEpoch', {}).value;
  const decimals = (epochs?.current ?? epochs?.past[0])?.asryDecimals;
  return (atoms) =>
    decimals === undefined ? `${units(atoms, 0)} atoms of ASRY` : `${units(atoms, decimals)} ASRY`;
}

export const Deposit = ({ claim, asry }: { claim: AsryClaim; asry: (atoms: string) => string }) => (
  <dl class="receipt" aria-label="Payment">
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

export function ClaimRecord({ signature }: { signature: string }) {
  const answer = useQuery('getAsryClaim', { signature }, POLL_MS, isPaid);
  const asry = useAsryText();
  const record = answer.value;
  const paid = record !== null && isPaid(record);
  useEffect(() => {
    if (record !== null) announceChange();
  }, [paid, record === null]);
  return (
    <Loaded
      query={answer}
      waiting="Reading the claim."
      show={(claim) => <ClaimState record={claim} asry={asry} />}
    />
  );
}

function ClaimState({ record, asry }: { record: AsryClaimRecord; asry: (atoms: string) => string }) {
  const paid = isPaid(record);
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
          what="The reward is on its way. It is final in a few seconds."
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
