import { Away } from './explorer-links.tsx';
import { Field, type FieldProps } from './field.tsx';
import type { SmallPicture } from './shrink-picture.tsx';
import type { TokenDraft } from './token-draft.ts';
import { type LoadedPicture, PictureRemark } from './token-picture.tsx';

export type Picked = SmallPicture | 'none' | 'unreadable';

async function pick(file: File | undefined): Promise<Picked> {
  if (file === undefined) return 'none';
  const { shrinkPicture } = await import('./shrink-picture.tsx');
  return shrinkPicture(file).catch(() => 'unreadable');
}

export type PictureProps = {
  /** A picture of this device. */
  readonly picked: Picked;
  readonly pick: (picked: Picked) => void;
  /** The picture behind the link. */
  readonly picture: LoadedPicture;
};

type PictureStepProps = PictureProps & {
  readonly draft: TokenDraft;
  readonly setDraft: (draft: TokenDraft) => void;
  readonly link: Omit<FieldProps, 'label'>;
};

/** A picture in three steps, because the service stores none; or a token without one. */
export function PictureStep({ draft, setDraft, link, ...props }: PictureStepProps) {
  const way = (isPictureless: boolean, name: string) => (
    <label>
      <input
        type="radio"
        name="token-pictured"
        checked={draft.isPictureless === isPictureless}
        onChange={() => setDraft({ ...draft, isPictureless })}
      />
      {name}
    </label>
  );
  return (
    <fieldset class="framed">
      <legend>Picture</legend>
      <div class="ways-to-choose">
        {way(false, 'With a picture')}
        {way(true, 'Without a picture')}
      </div>
      {draft.isPictureless ? (
        <p class="fine">
          Wallets show an empty circle.{' '}
          {draft.keepEditing
            ? 'You keep the right to add a picture later.'
            : 'You give up the right to edit, so none can ever be added.'}
        </p>
      ) : (
        <ol class="numbered">
          <li>
            <ShrinkHere {...props} />
          </li>
          <li>
            <UploadThere />
          </li>
          <li>
            <Field {...link} label="Paste its link" keys="url" paste />
            <PictureRemark picture={props.picture} />
          </li>
        </ol>
      )}
    </fieldset>
  );
}

const ShrinkHere = ({ picked, pick: set }: Omit<PictureProps, 'picture'>) => (
  <div class="field">
    <label for="token-file">Shrink it here</label>
    <input
      id="token-file"
      type="file"
      accept="image/*"
      aria-describedby="token-file-hint"
      onChange={async ({ target }: Event) => {
        if (target instanceof HTMLInputElement) set(await pick(target.files?.[0]));
      }}
    />
    <span class="hint" id="token-file-hint">
      Made square and small in this browser. Nothing is sent.
    </span>
    {picked === 'unreadable' ? (
      <span class="wrong" role="alert">
        This browser cannot read the file as a picture. Choose a PNG, JPEG or WebP file.
      </span>
    ) : null}
    {typeof picked === 'string' ? null : picked.about}
  </div>
);

/** Sites that give a direct link to a picture. */
export const PICTURE_HOSTS = ['https://postimages.org', 'https://github.com/new'] as const;

const UploadThere = () => (
  <div class="field">
    <strong>Upload it to a host with direct https links</strong>
    <span class="hint">
      At <Away href={PICTURE_HOSTS[0]}>Postimages</Away>, copy “Direct link”. In a public{' '}
      <Away href={PICTURE_HOSTS[1]}>GitHub</Away> repository, open the file, press “Raw”, and copy the
      address. Your own web site or an IPFS pinning service will do as well. Sluice stores no pictures: leave
      it there.
    </span>
  </div>
);
