import { Field, type FieldProps } from './field.tsx';
import { later } from './later.tsx';
import { type LoadedPicture, TokenPicture } from './own-picture.tsx';
import type { SmallPicture } from './shrink-picture.tsx';
import { PictureRemark } from './token-picture.tsx';

export type Picked = SmallPicture | 'none' | 'unreadable';

const ToTheWeb = later(async () => (await import('./shrink-picture.tsx')).ToTheWeb);

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

/** The picture behind the visitor's link, or else the picture chosen on this device; null if there is neither. */
export function givenPicture({ picked, picture }: Pick<PictureProps, 'picked' | 'picture'>): string | null {
  if (picture.type === 'shown') return picture.url;
  return typeof picked === 'string' ? null : picked.url;
}

/**
 * The picture of this device, or the link to one on the web, beside what wallets would show. Only the link is part of the
 * order: the service stores no pictures.
 */
export const PictureStep = ({ link, symbol, ...props }: PictureStepProps) => (
  <fieldset class="picture-step">
    <legend>
      Picture <span class="fine">(optional)</span>
    </legend>
    <div class="picture-link">
      <TokenPicture symbol={symbol} seed={symbol} src={givenPicture(props)} />
      <ChooseFile {...props} />
    </div>
    {typeof props.picked === 'string' ? null : (
      <ToTheWeb about={props.picked.about} isLinked={link.value.trim() !== ''} />
    )}
    <div class="stacked">
      <Field
        {...link}
        label="Link to a picture"
        keys="url"
        hint="The address of a picture on the web. Without a picture, wallets show a letter or a blank."
        paste
      />
      <PictureRemark picture={props.picture} />
    </div>
  </fieldset>
);

const ChooseFile = ({ picked, pick: set }: Omit<PictureProps, 'picture'>) => (
  <div class="field">
    <label class="button quiet file">
      Choose a picture
      <input
        id="token-file"
        type="file"
        accept="image/*"
        aria-describedby="token-file-hint"
        onChange={async ({ target }: Event) => {
          if (target instanceof HTMLInputElement) set(await pick(target.files?.[0]));
        }}
      />
    </label>
    <span class="hint" id="token-file-hint">
      From this device. Made square and small in this browser; it is not uploaded.
    </span>
    {picked === 'unreadable' ? (
      <span class="wrong" role="alert">
        This browser cannot read the file as a picture. Choose a PNG, JPEG or WebP file.
      </span>
    ) : null}
  </div>
);
