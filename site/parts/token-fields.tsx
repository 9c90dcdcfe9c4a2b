import type { Child } from 'hono/jsx';
import { Check, Choice, Field } from './field.tsx';
import { type Picked, PictureFile } from './picture-file.tsx';
import type { DraftFaults, TokenDraft } from './token-draft.ts';
import { ConnectWallet } from './wallet.tsx';

type Text = 'name' | 'symbol' | 'supply' | 'decimals' | 'creator' | 'description' | 'image';
type Right = 'keepMinting' | 'keepFreezing' | 'keepEditing';

/** Fields below "Advanced"; a fault in one of them opens it. */
const ADVANCED = ['decimals', 'description'] as const;

type TokenFieldsProps = {
  readonly draft: TokenDraft;
  readonly setDraft: (draft: TokenDraft) => void;
  readonly faults: DraftFaults;
  /** Whether the form was submitted; until then, an empty field is not marked. */
  readonly tried: boolean;
  /** A picture of this device. */
  readonly picked: Picked;
  readonly pick: (picked: Picked) => void;
};

export function TokenFields({ draft, setDraft, faults, tried, picked, pick }: TokenFieldsProps) {
  const entry = (name: Text) => ({
    id: `token-${name}`,
    value: draft[name],
    set: (value: string): void => setDraft({ ...draft, [name]: value }),
    wrong: (tried || draft[name] !== '' ? faults[name] : undefined) ?? null,
  });
  return (
    <>
      <div class="pair">
        <Field {...entry('name')} label="Name" hint="Up to 32 letters; an emoji counts as four" />
        <Field {...entry('symbol')} label="Symbol" hint="Up to 10 letters; an emoji counts as four" />
      </div>
      <fieldset class="framed">
        <legend>Picture</legend>
        <PictureFile picked={picked} set={pick} />
        <Field
          {...entry('image')}
          label="Link to the picture"
          keys="url"
          hint="The https address from which wallets load it"
        />
      </fieldset>
      <Field {...entry('supply')} label="Supply" keys="decimal" hint="Whole tokens, all to you" />
      <ConnectWallet
        label="Fill in from my wallet"
        quiet
        otherwise="Copy your address in the wallet app and paste it below. You can pay with any wallet in the next step."
      />
      <Field {...entry('creator')} label="Your wallet" hint="Receives the supply and the rights you keep" />
      <Advanced isOpen={tried && ADVANCED.some((name) => faults[name] !== undefined)}>
        <Field {...entry('decimals')} label="Decimals" keys="numeric" hint="0 to 9; 6 is usual" />
        <Field {...entry('description')} label="Description" rows={3} optional />
        <RightsKept draft={draft} setDraft={setDraft} />
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
      </Advanced>
    </>
  );
}

const Advanced = ({ isOpen, children }: { isOpen: boolean; children?: Child }) => (
  <details class="advanced" {...(isOpen ? { open: true } : {})}>
    <summary>Advanced: decimals, description, rights</summary>
    <div class="fields">{children}</div>
  </details>
);

function RightsKept({ draft, setDraft }: { draft: TokenDraft; setDraft: (draft: TokenDraft) => void }) {
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
      <Check
        {...right('keepEditing')}
        label="Change name and picture"
        hint="On lets you correct a mistake."
      />
    </fieldset>
  );
}
