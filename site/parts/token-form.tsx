import { useEffect, useState } from 'hono/jsx';
import { isWellKnown } from '../../src/chain/solana/token-text.ts';
import { formatAmount } from '../../src/core/amount.ts';
import { call } from '../api/call.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { Form } from './field.tsx';
import { shortened } from './format.ts';
import { Age } from './freshness.tsx';
import { later } from './later.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { forgetOrder, noteOrder, type OpenOrder, useOpenOrder } from './own-payment.ts';
import type { Picked } from './picture-file.tsx';
import { Tile } from './tile.tsx';
import {
  decimalsOf,
  draftFaults,
  EMPTY_DRAFT,
  invoiceBody,
  supplyAtoms,
  type TokenDraft,
} from './token-draft.ts';
import { TokenFields } from './token-fields.tsx';
import { AtMost, TokenPrice, type TokenQuote, useTokenQuote } from './token-price.tsx';
import { Foreign } from './token-text.tsx';
import { SupplyTile, TokenView, type Viewed } from './token-view.tsx';
import { useDraft } from './use-draft.ts';
import { useConnected } from './wallet.tsx';

const InvoicePanel = later(async () => (await import('./invoice-panel.tsx')).InvoicePanel);

/** The token that a draft would create, as far as a visitor sees it first. */
function drafted(draft: TokenDraft): Viewed {
  return {
    name: draft.name || 'Your token',
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

/** The finished page, as far as the form is filled in. @param file picture of this device, which has no address yet */
export const TokenPreview = ({ draft, file }: { draft: TokenDraft; file: string | null }) => {
  const creator = draft.creator.trim();
  const [atoms, decimals] = [supplyAtoms(draft) ?? 0n, decimalsOf(draft) ?? 0];
  return (
    <section class="card stack preview" aria-label="Preview of the token's page">
      <p class="fine">Preview of its page, as you type</p>
      <TokenView token={drafted(draft)} isPart file={file}>
        <div class="tiles two">
          <SupplyTile supply={formatAmount(atoms, decimals)} decimals={decimals} />
          <Tile name="All of it goes to" value={creator === '' ? 'your wallet' : shortened(creator, 4)} />
        </div>
      </TokenView>
    </section>
  );
};

/** Fills in the connected wallet's address once; it stays editable. */
function useWalletAddress(fill: (address: string) => void): void {
  const connected = useConnected();
  const address = connected?.account.address;
  useEffect(() => {
    if (address !== undefined) fill(address);
  }, [address]);
}

/** Waits for the rendering that opens "Advanced". */
const focusSoon = (id: string): void => void setTimeout(() => document.getElementById(id)?.focus());

/** Whether a creator wants no picture: asked once, when the order would have none. */
type Pictureless = 'unasked' | 'asked' | 'wanted';

/** The entries stay until their token exists. @param open shows the order's page */
function useOrder(draft: TokenDraft, open: (id: string) => void) {
  const [tried, setTried] = useState(false);
  const [pictureless, setPictureless] = useState<Pictureless>('unasked');
  const { busy, failure, attempt } = useAttempt<'price'>();
  const faults = draftFaults(draft);
  const send = () =>
    attempt('price', async () => {
      const { value } = await call('createInvoice', invoiceBody(draft));
      noteOrder(value.invoice_id, draft.name);
      open(value.invoice_id);
    });
  const submit = (): void => {
    setTried(true);
    const first = Object.keys(faults)[0];
    if (first !== undefined) focusSoon(`token-${first}`);
    else if (draft.image.trim() !== '' || pictureless === 'wanted') void send();
    else {
      setPictureless('asked');
      focusSoon('token-pictureless');
    }
  };
  return {
    tried,
    faults,
    busy,
    failure,
    submit,
    isAsked: pictureless === 'asked' && draft.image.trim() === '',
    withoutPicture(): void {
      setPictureless('wanted');
      void send();
    },
    addPicture(): void {
      setPictureless('unasked');
      focusSoon('token-file');
    },
  };
}

export function TokenCreator() {
  const [draft, setDraft, forget] = useDraft<TokenDraft>('token', EMPTY_DRAFT, 'browser');
  const [invoice, setInvoice] = useState<string | null>(null);
  const [picked, pick] = useState<Picked>('none');
  const open = useOpenOrder();
  const quote = useTokenQuote(draft.program);
  const show = (id: string | null): void => {
    toAddressBar('invoice', id);
    setInvoice(id);
    scrollTo({ top: 0 });
  };
  const order = useOrder(draft, show);
  useEffect(() => setInvoice(fromAddressBar('invoice')), []);
  useWalletAddress((creator) => setDraft({ ...draft, creator }));
  const created = (): void => {
    forget();
    scrollTo({ top: 0 });
  };
  const leave = (isCreated: boolean): void => {
    show(null);
    if (isCreated) setDraft({ ...EMPTY_DRAFT, creator: draft.creator });
  };

  if (invoice !== null)
    return (
      <div class="card" data-ordered>
        <InvoicePanel id={invoice} created={created} leave={leave} />
      </div>
    );
  return (
    <>
      {open === null ? null : <ResumeOrder order={open} resume={() => show(open.id)} />}
      <div class="split maker">
        <Form id="token-form" label="New token" submit={order.submit}>
          <TokenFields {...{ draft, setDraft, picked, pick }} faults={order.faults} tried={order.tried} />
        </Form>
        <div class="stack">
          <TokenPreview draft={draft} file={typeof picked === 'string' ? null : picked.url} />
          <TokenPrice quote={quote}>
            {order.isAsked ? (
              <AskPicture draft={draft} hasFile={typeof picked !== 'string'} order={order} />
            ) : (
              <OrderBar quote={quote.value} disabled={order.busy !== null} />
            )}
          </TokenPrice>
          {order.busy === null ? null : <Waiting what="Checking the token on the chain before you pay." />}
          <Failed failure={order.failure} />
        </div>
      </div>
    </>
  );
}

/** Stays in reach on a phone, where the preview and the price are below the form. */
const OrderBar = ({ quote, disabled }: { quote: TokenQuote | null; disabled: boolean }) => (
  <div class="order-bar">
    <span class="ordered">
      <AtMost lamports={quote?.max_lamports} />
    </span>
    <button type="submit" form="token-form" disabled={disabled}>
      Continue to payment
    </button>
  </div>
);

type AskPictureProps = {
  readonly draft: TokenDraft;
  readonly hasFile: boolean;
  readonly order: { withoutPicture(): void; addPicture(): void };
};

const AskPicture = ({ draft, hasFile, order }: AskPictureProps) => (
  <div class="order-bar asking" role="alert">
    <p>
      <strong>Create without a picture?</strong>{' '}
      {hasFile ? 'Yours has no link yet. ' : 'Wallets then show an empty circle. '}
      {draft.keepEditing
        ? 'You keep the right to add one later.'
        : 'You give up the right to change it, so none can ever be added.'}
    </p>
    <button type="button" id="token-pictureless" onClick={order.withoutPicture}>
      Without a picture
    </button>
    <button type="button" class="quiet" onClick={order.addPicture}>
      Add a picture
    </button>
  </div>
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
