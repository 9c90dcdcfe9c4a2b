import { Away } from './explorer-links.tsx';
import { Field, type FieldProps } from './field.tsx';
import { type LoadedPicture, TokenPicture } from './own-picture.tsx';
import type { SmallPicture } from './shrink-picture.tsx';
import { PictureRemark } from './token-picture.tsx';

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
  readonly symbol: string;
};

/** The picture that the visitor has given: behind the link, or else of this device; null without one. */
export function givenPicture({ picked, picture }: Pick<PictureProps, 'picked' | 'picture'>): string | null {
  if (picture.type === 'shown') return picture.url;
  return typeof picked === 'string' ? null : picked.url;
}

/**
 * The link to a picture, beside what wallets would show. The service stores no pictures, so it also tells how to get a
 * link.
 */
export const PictureStep = ({ link, symbol, ...props }: PictureStepProps) => (
  <div class="stack">
    <div class="picture-link">
      <TokenPicture symbol={symbol} seed={symbol} src={givenPicture(props)} />
      <div class="stacked">
        <Field
          {...link}
          label="Link to a picture"
          keys="url"
          hint="Without one, wallets show a letter or a blank."
          optional
          paste
        />
        <PictureRemark picture={props.picture} />
      </div>
    </div>
    <details>
      <summary>No link yet? Make one from your file</summary>
      <ol class="numbered">
        <li>
          <ShrinkHere {...props} />
        </li>
        <li>
          <UploadThere />
        </li>
        <li>
          <strong>Paste its link above</strong>
        </li>
      </ol>
    </details>
  </div>
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
