import type { Child } from 'hono/jsx';
import { Away } from './explorer-links.tsx';
import { Check, Choice, Field } from './field.tsx';
import { type PictureProps, PictureStep } from './picture-step.tsx';
import {
  type DraftFaults,
  formUrl,
  isSplit,
  pictureLack,
  supplyRemark,
  type TokenDraft,
  withSplit,
} from './token-draft.ts';
import { accountRent, useTokenQuote } from './token-price.tsx';
import { ConnectWallet } from './wallet.tsx';

type Text = 'name' | 'symbol' | 'supply' | 'decimals' | 'creator' | 'description' | 'image';
type Right = 'keepMinting' | 'keepFreezing';

/** Fields below "Advanced"; a fault in one of them opens it. */
const ADVANCED = ['decimals'] as const;

/** @see formUrl */
const TO_FILL_IN = {
  does: 'Get address from',
  note: 'The app opens this form with your texts, picture link, supply, decimals, lock, rights and kind. No payment is made.',
};

type TokenFieldsProps = PictureProps & {
  readonly draft: TokenDraft;
  readonly setDraft: (draft: TokenDraft) => void;
  readonly faults: DraftFaults;
  /** Whether the form was submitted; until then, an empty field is not marked. */
  readonly tried: boolean;
};

export function TokenFields({ draft, setDraft, faults, tried, ...picture }: TokenFieldsProps) {
  const entry = (name: Text) => ({
    id: `token-${name}`,
    value: draft[name],
    set: (value: string): void => setDraft({ ...draft, [name]: value }),
    wrong: (tried || draft[name] !== '' ? faults[name] : undefined) ?? null,
  });
  return (
    <>
      <div class="pair uneven">
        <Field {...entry('name')} label="Name" hint="Up to 32 letters" />
        <Field {...entry('symbol')} label="Symbol" hint="Up to 10" />
      </div>
      <PictureStep {...picture} link={entry('image')} symbol={draft.symbol} />
      <div class="pair">
        <Field {...entry('supply')} label="Supply" keys="decimal" hint={<SupplyHint draft={draft} />} />
        <Parts draft={draft} setDraft={setDraft} />
      </div>
      <Field {...entry('creator')} label="Your wallet" hint={<WalletHint program={draft.program} />} paste />
      <ConnectWallet
        label="Fill in from my wallet"
        apps={TO_FILL_IN}
        quiet
        page={() => formUrl(draft, location.href)}
        otherwise="Copy your address in the wallet app and paste it above. You can pay with any wallet in the next step."
      />
      <Field
        {...entry('description')}
        label="Description"
        rows={2}
        optional
        hint="Shown below the name. Visitors can open an https link in it."
      />
      <Lock draft={draft} setDraft={setDraft} />
      <Advanced isOpen={tried && ADVANCED.some((name) => faults[name] !== undefined)}>
        <Field
          {...entry('decimals')}
          label="Decimals"
          keys="numeric"
          hint="0 to 9; 6 is usual, 0 means whole tokens only"
        />
        <RightsKept draft={draft} setDraft={setDraft} />
        <Kind draft={draft} setDraft={setDraft} />
      </Advanced>
    </>
  );
}

/** Where a visitor without a wallet gets one. */
export const WALLET_SITES = ['https://phantom.com', 'https://solflare.com'] as const;

const WalletHint = ({ program }: Pick<TokenDraft, 'program'>) => (
  <>
    Its address gets all tokens. Paste it, or let your wallet fill it in. No wallet yet? Install{' '}
    <Away href={WALLET_SITES[0]}>Phantom</Away> or <Away href={WALLET_SITES[1]}>Solflare</Away>. Buy SOL there
    for the price, and {accountRent(useTokenQuote(program).value?.fee_breakdown)} for each person to whom you
    will send tokens.
  </>
);

type DraftProps = Pick<TokenFieldsProps, 'draft' | 'setDraft'>;

/** The usual number of decimals, or none. "Advanced" offers every other number. */
const Parts = ({ draft, setDraft }: DraftProps) => (
  <Choice
    id="token-split"
    label="Can the token be divided?"
    value={isSplit(draft) ? 'split' : 'whole'}
    set={(chosen) => setDraft(withSplit(draft, chosen === 'split'))}
    options={[
      ['split', 'Yes, like money'],
      ['whole', 'No, like tickets'],
    ]}
    hint="Fixed for ever. If unsure, choose Yes: holders can still send whole tokens."
  />
);

const SupplyHint = ({ draft }: Pick<DraftProps, 'draft'>) => {
  const remark = supplyRemark(draft);
  return remark === null ? 'Tokens, all to your wallet' : <span class="caution">{remark}</span>;
};

const Kind = ({ draft, setDraft }: DraftProps) => (
  <Choice
    id="token-program"
    label="Kind"
    value={draft.program}
    set={(kind) => setDraft({ ...draft, program: kind === 'token' ? 'token' : 'token-2022' })}
    options={[
      ['token-2022', 'Token-2022 (cheaper)'],
      ['token', 'SPL token, Metaplex name'],
    ]}
  />
);

const LockHint = ({ draft }: Pick<DraftProps, 'draft'>) =>
  draft.keepEditing ? (
    <>Off: your wallet can change them, and the page of the token warns holders.</>
  ) : (
    <>
      Nobody can change them or the symbol, not even you. The picture's file stays where you put it: keep it
      online.{' '}
      {pictureLack(draft, false) === 'no_link' ? (
        <span class="caution">Without a link, this token never gets a picture.</span>
      ) : null}
    </>
  );

const Lock = ({ draft, setDraft }: DraftProps) => (
  <Check
    id="token-lock"
    label="Lock its name and picture link for ever"
    hint={<LockHint draft={draft} />}
    on={!draft.keepEditing}
    set={(on) => setDraft({ ...draft, keepEditing: !on })}
  />
);

const Advanced = ({ isOpen, children }: { isOpen: boolean; children?: Child }) => (
  <details class="advanced" {...(isOpen ? { open: true } : {})}>
    <summary>Advanced: decimals, rights, token standard</summary>
    <div class="fields">{children}</div>
  </details>
);

function RightsKept({ draft, setDraft }: DraftProps) {
  const right = (name: Right) => ({
    id: `token-${name}`,
    on: draft[name],
    set: (on: boolean): void => setDraft({ ...draft, [name]: on }),
  });
  return (
    <fieldset>
      <legend>Rights that you keep</legend>
      <Check {...right('keepMinting')} label="Mint more" hint="Off: the supply is fixed for ever." />
      <Check {...right('keepFreezing')} label="Freeze accounts" hint="Off is what holders expect." />
    </fieldset>
  );
}
