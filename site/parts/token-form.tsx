import type { Child } from 'hono/jsx';
import { useEffect, useState } from 'hono/jsx';
import { isWellKnown } from '../../src/chain/solana/token-text.ts';
import { formatAmount } from '../../src/core/amount.ts';
import { call } from '../api/call.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { Check, Choice, Field, Form } from './field.tsx';
import { counted, grouped } from './format.ts';
import { Age } from './freshness.tsx';
import { InvoicePanel } from './invoice-panel.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { forgetOrder, noteOrder, type OpenOrder, useOpenOrder } from './own-payment.ts';
import {
  decimalsOf,
  draftFaults,
  EMPTY_DRAFT,
  invoiceBody,
  supplyAtoms,
  type TokenDraft,
} from './token-draft.ts';
import { priceText, TokenPrice, useTokenQuote } from './token-price.tsx';
import { Foreign } from './token-text.tsx';
import { TokenView, type Viewed } from './token-view.tsx';
import { useDraft } from './use-draft.ts';
import { ConnectWallet, useConnected } from './wallet.tsx';

/** The token that a draft would create, as far as a visitor sees it first. */
function drafted(draft: TokenDraft): Viewed {
  return {
    name: draft.name || 'Name',
    symbol: draft.symbol || 'SYMBOL',
    image: draft.image.trim(),
    description: draft.description,
    powers: [
      ...(draft.keepFreezing ? (['freeze'] as const) : []),
      ...(draft.keepMinting ? (['mint'] as const) : []),
    ],
    update_authority: draft.keepEditing ? draft.creator.trim() : null,
    token_program: draft.program,
    // A token that is created here is listed with it.
    listed_at: '',
    official: null,
    warning: isWellKnown(draft.name) || isWellKnown(draft.symbol) ? 'well_known_name' : null,
  };
}

/** The finished page, as far as the form is filled in. */
export const TokenPreview = ({ draft }: { draft: TokenDraft }) => {
  const [atoms, decimals] = [supplyAtoms(draft) ?? 0n, decimalsOf(draft) ?? 0];
  return (
    <section class="card stack preview" aria-label="Preview of the token's page">
      <p class="fine">Preview of its page, which you can share</p>
      <TokenView token={drafted(draft)} isPreview />
      <dl class="facts">
        <dt>Supply</dt>
        <dd>
          {grouped(formatAmount(atoms, decimals))} <Foreign text={draft.symbol || 'SYMBOL'} />,{' '}
          {counted(decimals, 'decimal')}
        </dd>
        <dt>Smallest units</dt>
        <dd>{grouped(atoms.toString())}</dd>
      </dl>
    </section>
  );
};

type Text = 'name' | 'symbol' | 'supply' | 'decimals' | 'creator' | 'description' | 'image';
type Right = 'keepMinting' | 'keepFreezing' | 'keepEditing';

/** Fills in the connected wallet's address once; it stays editable. */
function useWalletAddress(fill: (address: string) => void): void {
  const connected = useConnected();
  const address = connected?.account.address;
  useEffect(() => {
    if (address !== undefined) fill(address);
  }, [address]);
}

export function TokenCreator() {
  const [draft, setDraft, forget] = useDraft<TokenDraft>('token', EMPTY_DRAFT);
  const [tried, setTried] = useState(false);
  const { busy, failure, attempt } = useAttempt<'price'>();
  const [invoice, setInvoice] = useState<string | null>(null);
  const order = useOpenOrder();
  const quote = useTokenQuote(draft);
  useEffect(() => setInvoice(fromAddressBar('invoice')), []);
  useWalletAddress((creator) => setDraft({ ...draft, creator }));

  const set =
    <K extends keyof TokenDraft>(name: K) =>
    (value: TokenDraft[K]): void =>
      setDraft({ ...draft, [name]: value });
  const faults = draftFaults(draft);
  const open = (id: string): void => {
    toAddressBar('invoice', id);
    setInvoice(id);
    scrollTo({ top: 0 });
  };
  /** An empty field is not marked before the first submit. */
  const wrong = (name: keyof TokenDraft): string | null =>
    (tried || draft[name] !== '' ? faults[name] : undefined) ?? null;

  const entry = (name: Text) => ({
    id: `token-${name}`,
    value: draft[name],
    set: set(name),
    wrong: wrong(name),
  });
  const right = (name: Right) => ({ id: `token-${name}`, on: draft[name], set: set(name) });

  const submit = async (): Promise<void> => {
    setTried(true);
    const first = Object.keys(faults)[0];
    if (first !== undefined) {
      // After the rendering that opens "Advanced".
      setTimeout(() => document.getElementById(`token-${first}`)?.focus());
      return;
    }
    await attempt('price', async () => {
      const { value } = await call('createInvoice', invoiceBody(draft));
      forget();
      noteOrder(value.invoice_id, draft.name);
      open(value.invoice_id);
    });
  };

  if (invoice !== null)
    return (
      <div class="card stack">
        <InvoicePanel id={invoice} />
        <button
          type="button"
          class="quiet start"
          onClick={() => {
            toAddressBar('invoice', null);
            setInvoice(null);
            setTried(false);
            setDraft({ ...EMPTY_DRAFT, creator: draft.creator });
          }}
        >
          Another token
        </button>
      </div>
    );
  const status = (
    <>
      {busy === null ? null : <Waiting what="Checking the token on the chain before you pay." />}
      <Failed failure={failure} />
    </>
  );
  return (
    <>
      {order === null ? null : <ResumeOrder order={order} resume={() => open(order.id)} />}
      <div class="split">
        <Form id="token-form" label="New token" submit={submit}>
          <div class="pair">
            <Field {...entry('name')} label="Name" hint="Up to 32 letters; an emoji counts as four" />
            <Field {...entry('symbol')} label="Symbol" hint="Up to 10 letters; an emoji counts as four" />
          </div>
          <Field
            {...entry('image')}
            label="Picture"
            keys="url"
            optional
            hint="An https address that wallets load"
          />
          <Field {...entry('supply')} label="Supply" keys="decimal" hint="Whole tokens, all to you" />
          <Field
            {...entry('creator')}
            label="Your wallet"
            hint="Receives the supply and the rights you keep"
          />
          <ConnectWallet label="Fill in from my wallet" quiet />
          <Advanced isOpen={tried && ADVANCED.some((name) => faults[name] !== undefined)}>
            <Field {...entry('decimals')} label="Decimals" keys="numeric" hint="0 to 9; 6 is usual" />
            <Field {...entry('description')} label="Description" rows={3} optional />
            <fieldset>
              <legend>Rights that you keep</legend>
              <Check {...right('keepMinting')} label="Mint more" hint="Off: the supply is fixed for ever." />
              <Check {...right('keepFreezing')} label="Freeze accounts" hint="Off is what holders expect." />
              <Check
                {...right('keepEditing')}
                label="Change name and picture"
                hint="On lets you correct a mistake."
              />
            </fieldset>
            <Choice
              id="token-program"
              label="Kind"
              value={draft.program}
              set={(kind) => set('program')(kind === 'token' ? 'token' : 'token-2022')}
              options={[
                ['token-2022', 'Token-2022 (cheaper)'],
                ['token', 'SPL token, Metaplex name'],
              ]}
            />
          </Advanced>
        </Form>
        <div class="stack">
          <TokenPreview draft={draft} />
          <TokenPrice quote={quote} />
          <div class="order-bar">
            <strong class="number">{quote.value === null ? '' : priceText(quote.value)}</strong>
            <button type="submit" form="token-form" disabled={busy !== null}>
              Continue to payment
            </button>
          </div>
          {status}
        </div>
      </div>
    </>
  );
}

/** Fields below "Advanced"; a fault in one of them opens it. */
const ADVANCED = ['decimals', 'description'] as const;

const Advanced = ({ isOpen, children }: { isOpen: boolean; children?: Child }) => (
  <details class="advanced" {...(isOpen ? { open: true } : {})}>
    <summary>Advanced: decimals, description, rights</summary>
    <div class="fields">{children}</div>
  </details>
);

const ResumeOrder = ({ order, resume }: { order: OpenOrder; resume: () => void }) => (
  <Notice kind="info" title="You have an order that has not ended.">
    <p>
      <Foreign text={order.name} />, ordered <Age iso={new Date(order.at).toISOString()} />. If you paid it,
      do not pay again.
    </p>
    <p class="row">
      <button type="button" onClick={resume}>
        Resume your order
      </button>
      <button type="button" class="quiet" onClick={() => forgetOrder(order.id)}>
        Forget it
      </button>
    </p>
  </Notice>
);
