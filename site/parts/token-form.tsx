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
import { Price, TokenPrice, type TokenQuote, useTokenQuote } from './token-price.tsx';
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
      <TokenView token={drafted(draft)} isPreview file={file}>
        <div class="tiles">
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

export function TokenCreator() {
  const [draft, setDraft, forget] = useDraft<TokenDraft>('token', EMPTY_DRAFT);
  const [tried, setTried] = useState(false);
  const { busy, failure, attempt } = useAttempt<'price'>();
  const [invoice, setInvoice] = useState<string | null>(null);
  const [file, setFile] = useState<string | null>(null);
  const order = useOpenOrder();
  const quote = useTokenQuote(draft);
  useEffect(() => setInvoice(fromAddressBar('invoice')), []);
  useWalletAddress((creator) => setDraft({ ...draft, creator }));

  const faults = draftFaults(draft);
  const open = (id: string): void => {
    toAddressBar('invoice', id);
    setInvoice(id);
    scrollTo({ top: 0 });
  };
  const submit = async (): Promise<void> => {
    setTried(true);
    const first = Object.keys(faults)[0];
    if (first !== undefined) return focusSoon(`token-${first}`);
    await attempt('price', async () => {
      const { value } = await call('createInvoice', invoiceBody(draft));
      forget();
      noteOrder(value.invoice_id, draft.name);
      open(value.invoice_id);
    });
  };
  const begin = (): void => {
    toAddressBar('invoice', null);
    setInvoice(null);
    setTried(false);
    setDraft({ ...EMPTY_DRAFT, creator: draft.creator });
  };

  if (invoice !== null) return <Ordered id={invoice} another={begin} />;
  return (
    <>
      {order === null ? null : <ResumeOrder order={order} resume={() => open(order.id)} />}
      <div class="split maker">
        <Form id="token-form" label="New token" submit={submit}>
          <TokenFields draft={draft} setDraft={setDraft} faults={faults} tried={tried} pictured={setFile} />
        </Form>
        <div class="stack">
          <TokenPreview draft={draft} file={file} />
          <TokenPrice quote={quote}>
            <OrderBar quote={quote.value} disabled={busy !== null} />
          </TokenPrice>
          {busy === null ? null : <Waiting what="Checking the token on the chain before you pay." />}
          <Failed failure={failure} />
        </div>
      </div>
    </>
  );
}

const Ordered = ({ id, another }: { id: string; another: () => void }) => (
  <div class="card stack" data-ordered>
    <InvoicePanel id={id} />
    <button type="button" class="quiet start" onClick={another}>
      Another token
    </button>
  </div>
);

/** Stays in reach on a phone, where the preview and the price are below the form. */
const OrderBar = ({ quote, disabled }: { quote: TokenQuote | null; disabled: boolean }) => (
  <div class="order-bar">
    <span class="ordered">{quote === null ? null : <Price quote={quote} />}</span>
    <button type="submit" form="token-form" disabled={disabled}>
      Continue to payment
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
