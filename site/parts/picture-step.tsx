import { Away } from './explorer-links.tsx';
import { Field, type FieldProps } from './field.tsx';
import type { SmallPicture } from './shrink-picture.tsx';
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
  readonly link: Omit<FieldProps, 'label'>;
  /** Whether the link has a fault that the visitor must see. */
  readonly isOpen: boolean;
};

/** A picture in three steps, because the service stores none. A token needs no picture. */
export const PictureStep = ({ link, isOpen, ...props }: PictureStepProps) => (
  <details class="framed" {...(isOpen ? { open: true } : {})}>
    <summary>
      <strong>{link.value.trim() === '' ? 'Add a picture' : 'Picture'}</strong>{' '}
      <span class="fine">
        {link.value.trim() === ''
          ? '(optional): without one, wallets show a letter or a blank'
          : 'from your link'}
      </span>
    </summary>
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
  </details>
);

const ShrinkHere = ({ picked, pick: set }: Omit<PictureProps, 'picture'>) => (
  <div class="field">
    <label for="token-file">Choose it and save it small</label>
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
    <strong>Put it on the web</strong>
    <span class="hint">
      Sluice stores no pictures, so wallets load yours from elsewhere: leave it there. The quick way is{' '}
      <Away href={PICTURE_HOSTS[0]}>Postimages</Away>: upload the small picture and copy “Direct link”. In a
      public <Away href={PICTURE_HOSTS[1]}>GitHub</Away> repository, open the file, press “Raw” and copy the
      address. Your own web site will do as well.
    </span>
  </div>
);
