import { useState } from 'hono/jsx';
import {
  type LoadedPicture,
  OwnPicture,
  ownPath,
  TokenPicture,
  type TokenPictureProps,
  useLoadedPicture,
} from './own-picture.tsx';
import { isImageUrl } from './token-draft.ts';
import { Foreign, Initial } from './token-text.tsx';

const SMALLEST_PX = 128;

function remark(picture: LoadedPicture): string {
  switch (picture.type) {
    case 'none':
      return '';
    case 'asked':
      return 'Loading the picture.';
    case 'failed':
      return 'The picture does not load. Its link must lead to the file itself: PNG, JPEG, WebP, GIF or SVG.';
    case 'shown': {
      const { width, height } = picture;
      const size = `The picture loads: ${width} × ${height} pixels`;
      if (width < SMALLEST_PX || height < SMALLEST_PX)
        return `${size}, too small for wallets. Use at least ${SMALLEST_PX} × ${SMALLEST_PX}.`;
      return width === height ? `${size}.` : `${size}. Wallets crop it to a square.`;
    }
  }
}

const MARKS = { none: 'fine', asked: 'fine', failed: 'fine wrong', shown: 'fine right' } as const;

/** Whether a picture loads, and what is wrong with it. */
export const PictureRemark = ({ picture }: { picture: LoadedPicture }) => (
  <span class={MARKS[picture.type]} role="status">
    {remark(picture)}
  </span>
);

/** The picture of a token that others have created. */
export const ForeignPicture = (props: TokenPictureProps) =>
  ownPath(props.image) === null ? <AskedPicture {...props} /> : <OwnPicture {...props} />;

/** A picture of another site, which gets no request before the visitor clicks. */
function AskedPicture({ symbol, seed, image }: TokenPictureProps) {
  const [isWanted, setWanted] = useState(false);
  const url = image !== null && isImageUrl(image) ? image : null;
  const picture = useLoadedPicture(isWanted ? url : null);
  if (url === null) return <Initial symbol={symbol} seed={seed} />;
  return (
    <span class="picture">
      <TokenPicture symbol={symbol} seed={seed} src={picture.type === 'shown' ? url : null} />
      {isWanted ? (
        picture.type === 'shown' ? null : (
          <PictureRemark picture={picture} />
        )
      ) : (
        <>
          <button type="button" class="quiet small" onClick={() => setWanted(true)}>
            Load picture
          </button>
          <span class="fine">
            from <Foreign text={new URL(url).host} />
          </span>
        </>
      )}
    </span>
  );
}
