import { useState } from 'hono/jsx';
import { Initial } from './token-text.tsx';

const SMALLEST_PX = 128;

type Loaded =
  | { readonly type: 'asked' }
  | { readonly type: 'failed' }
  | { readonly type: 'shown'; readonly width: number; readonly height: number };

function remark(loaded: Loaded): string | null {
  if (loaded.type === 'asked') return 'Loading the picture.';
  if (loaded.type === 'failed')
    return 'No picture at this address. Use a direct link to a PNG, JPEG, WebP, GIF or SVG file.';
  const { width, height } = loaded;
  const size = `${width} × ${height} pixels`;
  if (width < SMALLEST_PX || height < SMALLEST_PX)
    return `${size}: too small for wallets. Use at least ${SMALLEST_PX} × ${SMALLEST_PX}.`;
  return width === height ? `${size}.` : `${size}: wallets crop it to a square.`;
}

type TokenPictureProps = {
  readonly symbol: string;
  /** Its address on another site. */
  readonly url: string | null;
  /** A picture of this device as a `data:` URL. */
  readonly file: string | null;
};

/** The token's picture. One on another site loads only after the visitor clicks. */
export function TokenPicture({ symbol, url, file }: TokenPictureProps) {
  const [asked, setAsked] = useState<string | null>(null);
  const [loaded, setLoaded] = useState<Loaded>({ type: 'asked' });
  if (url === null && file !== null)
    return (
      <span class="picture">
        <span class="initial">
          <img src={file} alt={symbol} />
        </span>
        <span class="fine">It needs a link</span>
      </span>
    );
  if (url === null) return <Initial symbol={symbol} />;
  if (asked !== url)
    return (
      <span class="picture">
        <Initial symbol={symbol} />
        <button
          type="button"
          class="quiet small"
          onClick={() => {
            setLoaded({ type: 'asked' });
            setAsked(url);
          }}
        >
          Load picture
        </button>
      </span>
    );
  const text = remark(loaded);
  const bad = loaded.type === 'failed';
  return (
    <span class="picture">
      {bad ? (
        <Initial symbol={symbol} />
      ) : (
        <span class="initial">
          <img
            src={url}
            alt={symbol}
            referrerpolicy="no-referrer"
            onLoad={(event: Event) => {
              if (event.target instanceof HTMLImageElement)
                setLoaded({
                  type: 'shown',
                  width: event.target.naturalWidth,
                  height: event.target.naturalHeight,
                });
            }}
            onError={() => setLoaded({ type: 'failed' })}
          />
        </span>
      )}
      <span class={bad ? 'fine wrong' : 'fine'} role="status">
        {text}
      </span>
    </span>
  );
}
