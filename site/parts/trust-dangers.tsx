/**
 * What can go wrong on this instance. Each sentence is chosen by the fact that it speaks of; while that fact is not
 * known, the sentence says so.
 * @module
 */
import type { AsryEpochs, Reserves, Status } from '../../packages/client/src/index.ts';
import type { Minter } from '../../src/chain/solana/mint-keys.ts';
import { PROOF_POLL_MS, useQuery } from '../api/query.ts';
import { absrMinter } from './coverage.tsx';
import { count, sol, units } from './format.ts';
import { Folded } from './table.tsx';

export type DangerFacts = {
  readonly reserves: Reserves | null;
  /** Null while it is not known. */
  readonly treasury: string | null;
  readonly status: Status | null;
  readonly epochs: AsryEpochs | null;
};

const RED_BAR = 'The chain shows it, and so does a red bar on this site, unless the operator removes it.';

/** The unknown case is about as long as the usual one, so that the page does not move when the chain was read. */
const OPERATOR_MINTS: Readonly<Record<Minter | 'unknown', string>> = {
  unknown: `Mint ABSR beyond the reserve, with whatever keys that needs: who can mint is not known at the moment. It may be the operator alone. ${RED_BAR}`,
  two_keys: `Mint ABSR beyond the reserve only with two keys: its Solana key and the witness's. The chain does not show who has the witness's key: it may be the operator. ${RED_BAR}`,
  reserve: `Mint any amount of ABSR: its Solana key mints alone. ${RED_BAR}`,
  nobody: 'Not mint ABSR: its mint no longer has an authority.',
  other: `Mint more ABSR than there are sats, if the operator holds the mint authority. The service does not use it, and the chain does not show its holder. ${RED_BAR}`,
};

const THIEF_MINTS: Readonly<Record<Minter | 'unknown', string>> = {
  unknown: 'Who can mint ABSR is not known at the moment.',
  two_keys:
    "With the Solana key: the sats above the supply, as ABSR, to the treasury. With that key and the witness's: any amount, shown as a red bar.",
  reserve: 'With the Solana key: any amount. Every page then shows a red bar.',
  nobody: 'None: nobody can mint.',
  other: 'With the mint authority, which is not a key of the service: any amount, shown as a red bar.',
};

const BITCOIN_LOSSES = {
  true: 'With the Bitcoin key: all of it. The key is offline, so a break-in at the service does not reach it.',
  false: 'With the Bitcoin key, which is in the service, or with the right to deploy code: all of it.',
  null: 'With the Bitcoin key: all of it. Whether that key is in the service is not known at the moment.',
} as const;

/** The daily limits on all that the custodian pays, from the status. */
function dayLimits({ status }: DangerFacts): string {
  const most = (name: string): string | undefined =>
    status?.custody?.limits.find((limit) => limit.name === name)?.maximum;
  const [swaps, refunds, accounts, failures] = [
    most('day'),
    most('refunds_day'),
    most('rent_day'),
    most('failed_payouts_day'),
  ];
  const [creations, payouts, cost] = [most('creations_day'), most('payouts_day'), most('cost_day')];
  if (!cost || !swaps || !refunds || !accounts || !failures || !creations || !payouts)
    return 'The daily limits are not known at the moment.';
  const rewards = sol(String(BigInt(accounts) + BigInt(failures)));
  return `In a day at most ${sol(swaps)} SOL of swaps, ${sol(refunds)} SOL of refunds, ${rewards} SOL for accounts and failures of rewards, and the costs of ${count(Number(creations))} token creations and ${count(Number(payouts))} rewards. While prices are true, the swaps of a day lose at most ${sol(cost)} SOL.`;
}

const solLoss = (facts: DangerFacts): string =>
  `With the Solana key, or with the right to deploy code: all of it. Without a key, by calls that pass every check: never more than the reserve holds. ${dayLimits(facts)}`;

function asryLoss({ epochs }: DangerFacts): string {
  const { allowanceAtomic: allowed = null, current = null } = epochs ?? {};
  if (allowed === null || current === null) return 'With the Solana key: all ASRY that this key may pay out.';
  const amount = units(allowed, current.asryDecimals);
  return `With the Solana key: the ${amount} ASRY that a cold account still allows it.`;
}

function paymentLoss({ treasury, reserves }: DangerFacts): string {
  const reserve = reserves?.solana.address ?? null;
  if (treasury === null || reserve === null) return 'Where payments go is not known at the moment.';
  return treasury === reserve
    ? 'With the Solana key: all payments, because the treasury is the reserve itself.'
    : 'No payment: the treasury has another key. With the Solana key: the SOL for refunds that are owed at that moment.';
}

export function lossesOf(facts: DangerFacts): readonly (readonly [what: string, loss: string])[] {
  const minter = absrMinter(facts.reserves?.solana ?? null);
  return [
    ['SOL of the reserve', solLoss(facts)],
    ['BTC of the reserve', BITCOIN_LOSSES[`${facts.reserves?.bitcoin.watchOnly ?? null}`]],
    ['ABSR', THIEF_MINTS[minter ?? 'unknown']],
    ['ASRY', asryLoss(facts)],
    ['Your payment', paymentLoss(facts)],
    ['Your privacy', 'With access to the database: the IP addresses of visitors in the last 30 days.'],
  ];
}

/** What the operator of this instance could do with its keys. */
const OperatorCould = ({ reserves }: { reserves: Reserves | null }) => {
  const minter = absrMinter(reserves?.solana ?? null);
  return (
    <ul class="holders">
      <li>
        <strong>Move the SOL and the BTC of the reserve with the keys, at any time.</strong>
      </li>
      <li>{OPERATOR_MINTS[minter ?? 'unknown']}</li>
      <li>Deploy code other than the published source. You cannot check from outside which code runs.</li>
      <li>
        Pause swaps, token creations and claims. Received payments are then owed, but nothing forces the
        operator to start a refund.
      </li>
      <li>
        Change or remove the description and the picture link of each token that was created here: its chain
        entry only links to this service. Name, symbol, supply and rights are on the chain.
      </li>
    </ul>
  );
};

export function TrustDangers() {
  const reserves = useQuery('getReserves', {}, PROOF_POLL_MS).value;
  const treasury = useQuery('getTreasury', {}).value?.treasury_address ?? null;
  const status = useQuery('getStatus', {}).value;
  const epochs = useQuery('getAsryEpoch', {}).value;
  return (
    <div class="columns even">
      <div>
        <h3>The operator could</h3>
        <OperatorCould reserves={reserves} />
      </div>
      <div>
        <h3>The most that a thief could take</h3>
        <Folded summary="The largest loss of each item">
          <ul class="holders">
            {lossesOf({ reserves, treasury, status, epochs }).map(([what, loss]) => (
              <li>
                <strong>{what}.</strong> {loss}
              </li>
            ))}
          </ul>
        </Folded>
      </div>
    </div>
  );
}
