import { parseAmount } from '../../src/core/amount.ts';
import { useQuery } from '../api/query.ts';
import { fromAddressBar } from './address-bar.ts';
import { amountFault, isAmount } from './amount-text.ts';
import { Earnings } from './asry-live.tsx';
import { ASSETS, assetOf } from './claim-call.ts';
import { Whole } from './copyable.tsx';
import { Choice, Field } from './field.tsx';
import { useDraft } from './use-draft.ts';
import { WalletPayment } from './wallet.tsx';

const USD_DECIMALS = 6;
/** A billion dollars: a larger amount is a slip, and no preview of it makes sense. */
const MOST = 10n ** 9n * 10n ** BigInt(USD_DECIMALS);

/** The entries of the form's address, for the browser of a wallet app. */
function given(): { readonly asset: string; readonly amount: string } {
  const isPage = typeof location !== 'undefined';
  const amount = isPage ? fromAddressBar('amount') : null;
  return { asset: assetOf((isPage && fromAddressBar('asset')) || 'USDC'), amount: amount ?? '25' };
}

function formUrl(draft: { readonly asset: string; readonly amount: string }): string {
  const url = new URL(location.href);
  for (const [name, text] of Object.entries(draft)) url.searchParams.set(name, text);
  return url.href;
}

export function DepositForm({ sent }: { sent: (asset: string, signature: string) => void }) {
  const epochs = useQuery('getAsryEpoch', {}).value;
  const [draft, setDraft, forget] = useDraft('deposit', given());
  const { asset, amount } = draft;
  const fault = amountFault(amount, USD_DECIMALS, asset, MOST);
  const target = epochs?.deposit;
  const mint = asset === 'USDT' ? target?.mints.USDT : target?.mints.USDC;
  const parsed = parseAmount(amount.trim(), USD_DECIMALS);
  const isValid = isAmount(amount, USD_DECIMALS, asset, MOST);
  const ready = target?.address && mint && isValid;
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
      {epochs?.current && parsed.ok && isValid ? (
        <Earnings epoch={epochs.current} deposit={parsed.atoms} />
      ) : null}
      <p class="fine">
        This is a payment, not a loan: it is not returned. The reward goes to the wallet that pays.
      </p>
      <WalletPayment
        label={`Pay ${amount.trim()} ${asset} and claim`}
        lock="asry"
        disabled={!ready}
        page={() => formUrl({ asset, amount: amount.trim() })}
        run={async (connected) => {
          if (!target?.address || !mint || !parsed.ok)
            throw new Error('The address to pay is not known yet.');
          const { depositDollars } = await import('../wallet/transfers.ts');
          const { address: to, decimals } = target;
          return depositDollars(connected, { to, mint, atoms: parsed.atoms, decimals });
        }}
        sent={(signature) => {
          forget();
          sent(asset, signature);
        }}
      />
      <ByHand asset={asset} address={target?.address ?? null} />
    </div>
  );
}

const ByHand = ({ asset, address }: { asset: string; address: string | null }) => (
  <details>
    <summary>Pay without a wallet in this browser</summary>
    {address === null ? null : (
      <dl class="facts">
        <dt>Send {asset} to</dt>
        <dd>
          <Whole text={address} label="the treasury address" />
        </dd>
        <dt>From</dt>
        <dd>your own wallet, not an exchange: the reward goes to the sender</dd>
        <dt>Then</dt>
        <dd>enter the transaction's signature below</dd>
      </dl>
    )}
  </details>
);
