import { useEffect, useState } from 'hono/jsx';
import { isWellKnown } from '../../src/chain/solana/token-text.ts';
import { call, type Failure } from '../api/call.ts';
import type { Query } from '../api/query.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { fromAddressBar, toAddressBar } from './address-bar.ts';
import { Form } from './field.tsx';
import { grouped, shortened } from './format.ts';
import { later } from './later.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';
import { AfterThat, TokenPrice } from './order-price.tsx';
import { noteOrder } from './own-payment.ts';
import { TokenPicture, useLoadedPicture } from './own-picture.tsx';
import { givenPicture, type Picked } from './picture-step.tsx';
import { ResumeOrder } from './resume-order.tsx';
import { Tile } from './tile.tsx';
import {
  draftFaults,
  draftFrom,
  EMPTY_DRAFT,
  invoiceBody,
  isImageUrl,
  type PictureLack,
  pictureLack,
  supplyText,
  type TokenDraft,
  withoutEntries,
} from './token-draft.ts';
import { TokenFields } from './token-fields.tsx';
import { TokenLine } from './token-line.tsx';
import { AtMost, type TokenQuote, useTokenQuote } from './token-price.tsx';
import { HolderList, SupplyTile, TokenView, type Viewed } from './token-view.tsx';
import { useDraft } from './use-draft.ts';
import { useConnected } from './wallet.tsx';

const InvoicePanel = later(async () => (await import('./invoice-panel.tsx')).InvoicePanel);

const NO_NAME = 'Your token';
const NO_SYMBOL = 'SYMBOL';

/** The token that a draft would create, as far as a visitor sees it first. */
function drafted(draft: TokenDraft): Viewed {
  return {
    name: draft.name || NO_NAME,
    symbol: draft.symbol || NO_SYMBOL,
    description: draft.description,
    powers: [
      ...(draft.keepFreezing ? (['freeze'] as const) : []),
      ...(draft.keepMinting ? (['mint'] as const) : []),
    ],
    update_authority: draft.keepEditing ? draft.creator.trim() : null,
    // A token that is created here is listed with it, and has a link to its data.
    listed_at: '',
    uri: '',
    official: null,
    warning: isWellKnown(draft.name) || isWellKnown(draft.symbol) ? 'well_known_name' : null,
  };
}

type PreviewProps = {
  readonly draft: TokenDraft;
  /** The picture behind the link, or else of this device; null for neither. */
  readonly src: string | null;
  /** Whether it is the picture behind the link, which is part of the order. */
  readonly isLinked: boolean;
};

const DraftPicture = ({ draft: { symbol }, src }: Pick<PreviewProps, 'draft' | 'src'>) => (
  <TokenPicture symbol={symbol || NO_SYMBOL} seed={symbol || NO_SYMBOL} src={src} />
);

/** Said where the picture is shown: a file of this device is not part of the order. */
const NotYet = ({ src, isLinked }: PreviewProps) =>
  src === null || isLinked ? null : (
    <span class="fine caution">This picture is not in the token yet: it needs a link.</span>
  );

/** The finished page, as far as the form is filled in. */
export const TokenPreview = (props: PreviewProps) => {
  const { draft, src } = props;
  const creator = draft.creator.trim();
  return (
    <section class="card stack preview" aria-label="Preview of the token's page">
      <p class="fine">Preview of its page, as you type</p>
      <NotYet {...props} />
      <TokenView token={drafted(draft)} isPart picture={<DraftPicture draft={draft} src={src} />}>
        <div class="tiles two">
          <SupplyTile supply={supplyText(draft)} />
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

/** The question about a missing picture. The form asks once for each link, which may be empty. */
type Question = { readonly link: string; readonly isOpen: boolean };

type OrderTerms = {
  readonly draft: TokenDraft;
  readonly picked: Picked;
  readonly lack: PictureLack | null;
  /** Shows the order's page. */
  readonly open: (id: string) => void;
};

/** The entries stay until their token exists. */
function useOrder({ draft, picked, lack, open }: OrderTerms) {
  const [tried, setTried] = useState(false);
  const [question, setQuestion] = useState<Question | null>(null);
  const { busy, failure, attempt } = useAttempt<'price'>();
  const faults = draftFaults(draft);
  const link = draft.image.trim();
  const submit = (): void => {
    setTried(true);
    const [first] = Object.keys(faults);
    if (first !== undefined) focusSoon(`token-${first}`);
    else if (lack !== null && question?.link !== link) {
      setQuestion({ link, isOpen: true });
      focusSoon('picture-add');
    } else {
      setQuestion({ link, isOpen: false });
      void attempt('price', async () => {
        const { value } = await call('createInvoice', invoiceBody(draft));
        noteOrder(value.invoice_id, draft.name);
        open(value.invoice_id);
      });
    }
  };
  const addPicture = (): void => {
    setQuestion({ link, isOpen: false });
    // A chosen file lacks its link, and so does a link that does not load.
    focusSoon(lack === 'no_link' && typeof picked === 'string' ? 'token-file' : 'token-image');
  };
  const asked = question?.isOpen && question.link === link ? lack : null;
  return { tried, faults, isBusy: busy !== null, failure, submit, addPicture, asked };
}

/** The entries of a link replace an older draft of this browser once; a reload keeps what was changed since. */
function useLinkedDraft() {
  const [given] = useState(draftFrom(typeof location === 'undefined' ? '' : location.search));
  const [draft, setDraft, forget] = useDraft<TokenDraft>('token', given, 'browser');
  useEffect(() => {
    const bare = withoutEntries(location.href);
    if (bare === location.href) return;
    setDraft(given);
    history.replaceState(null, '', bare);
  }, []);
  const image = draft.image.trim();
  // Another person may have written the link. It loads nothing before the visitor fills in a wallet, which no link has.
  const isOwn = image !== given.image || draft.creator !== '';
  const picture = useLoadedPicture(isOwn && isImageUrl(image) ? image : null);
  return { draft, setDraft, forget, picture };
}

export function TokenCreator() {
  const { draft, setDraft, forget, picture } = useLinkedDraft();
  const [invoice, setInvoice] = useState<string | null>(null);
  const [picked, pick] = useState<Picked>('none');
  const quote = useTokenQuote(draft.program);
  const src = givenPicture({ picked, picture });
  const show = (id: string | null): void => {
    toAddressBar('invoice', id);
    setInvoice(id);
    scrollTo({ top: 0 });
  };
  const isLinked = picture.type === 'shown';
  const order = useOrder({ draft, picked, lack: pictureLack(draft, isLinked), open: show });
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
      <ResumeOrder />
      <p class="first-price">
        <AtMost lamports={quote.value?.max_lamports} />
      </p>
      <div class="split maker">
        <Form id="token-form" label="New token" submit={order.submit}>
          <TokenFields
            {...{ draft, setDraft, picked, pick, picture }}
            faults={order.faults}
            tried={order.tried}
          />
        </Form>
        <AfterThat />
        <div class="stack">
          <TokenPreview {...{ draft, src, isLinked }} />
          <OrderCard {...{ draft, src, isLinked, quote, order }} />
        </div>
      </div>
    </>
  );
}

type Ordering = {
  /** What the open question about the picture is about; null while none is open. */
  readonly asked: PictureLack | null;
  readonly addPicture: () => void;
  readonly isBusy: boolean;
  readonly failure: Failure | null;
};

type OrderCardProps = PreviewProps & {
  readonly quote: Query<TokenQuote>;
  readonly order: Ordering;
};

/** The price, and the button that orders. On a phone the preview is far above, so the token and its rights are repeated here. */
const OrderCard = ({ draft, src, isLinked, quote, order }: OrderCardProps) => (
  <TokenPrice quote={quote}>
    <div class="stack made">
      <TokenLine
        name={draft.name || NO_NAME}
        symbol={draft.symbol || NO_SYMBOL}
        picture={<DraftPicture draft={draft} src={src} />}
      >
        <span>{grouped(supplyText(draft))} tokens</span>
        <NotYet {...{ draft, src, isLinked }} />
      </TokenLine>
      <HolderList token={drafted(draft)} />
    </div>
    {order.asked === null ? (
      <Submit key="submit" isBusy={order.isBusy} failure={order.failure} />
    ) : (
      <NoPicture key="question" lack={order.asked} add={order.addPicture} />
    )}
  </TokenPrice>
);

/** Outside the form, because the price stands beside it. */
const Submit = ({ isBusy, failure }: { isBusy: boolean; failure: Failure | null }) => (
  <>
    <button type="submit" form="token-form" disabled={isBusy}>
      Continue to payment
    </button>
    {isBusy ? <Waiting what="Simulating the creation; nothing is sent." /> : null}
    <Failed failure={failure} />
  </>
);

const LACKS = {
  no_link: {
    title: 'No picture: it can never get one.',
    text: 'Its name, symbol and picture link are locked for ever.',
    add: 'Add one',
    leave: 'Continue without',
  },
  not_loaded: {
    title: 'The picture has not loaded.',
    text: 'Its link is locked for ever. If it leads to no picture, wallets show none.',
    add: 'Change the link',
    leave: 'Continue with this link',
  },
} as const;

/** Asks before a token is ordered whose picture wallets may never show. */
const NoPicture = ({ lack, add }: { lack: PictureLack; add: () => void }) => (
  <Notice kind="warn" title={LACKS[lack].title}>
    <p>{LACKS[lack].text}</p>
    <p class="row">
      <button type="button" id="picture-add" onClick={add}>
        {LACKS[lack].add}
      </button>
      <button type="submit" form="token-form" class="quiet">
        {LACKS[lack].leave}
      </button>
    </p>
  </Notice>
);
