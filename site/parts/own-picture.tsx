import { useEffect, useState } from 'hono/jsx';
import { Initial } from './token-text.tsx';

/** A picture is not loaded at each letter of a typed address. */
const TYPING_MS = 400;

export type LoadedPicture =
  | { readonly type: 'none' | 'asked' | 'failed' }
  | { readonly type: 'shown'; readonly url: string; readonly width: number; readonly height: number };

/** Loads a picture from another site into this browser. @param url null while none is wanted */
export function useLoadedPicture(url: string | null): LoadedPicture {
  const [ended, setEnded] = useState<{ readonly url: string | null; readonly picture: LoadedPicture }>({
    url: null,
    picture: { type: 'none' },
  });
  useEffect(() => {
    if (url === null) return;
    const image = new Image();
    image.referrerPolicy = 'no-referrer';
    image.onload = () => {
      const { naturalWidth: width, naturalHeight: height } = image;
      setEnded({ url, picture: { type: 'shown', url, width, height } });
    };
    image.onerror = () => setEnded({ url, picture: { type: 'failed' } });
    const timer = setTimeout(() => {
      image.src = url;
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      image.onload = null;
      image.onerror = null;
    };
  }, [url]);
  if (url === null) return { type: 'none' };
  return ended.url === url ? ended.picture : { type: 'asked' };
}

type PictureProps = {
  readonly symbol: string;
  /** @see Initial */
  readonly seed: string;
};

/** A token's picture, or its letter. @param src null without a loaded picture */
export const TokenPicture = ({ symbol, seed, src }: PictureProps & { src: string | null }) =>
  src === null ? (
    <Initial symbol={symbol} seed={seed} />
  ) : (
    <span class="initial">
      <img src={src} alt={symbol} referrerpolicy="no-referrer" />
    </span>
  );

export type TokenPictureProps = PictureProps & { readonly image: string | null };

/** Where this site has pictures of its own. */
const OWN_PATH = /^\/pictures\/[\w-]+\.(?:png|svg|webp)$/;

/** The path of a picture that this site has itself; null for every other picture. The Worker draws only letters. */
export function ownPath(image: string | null): string | null {
  if (image === null || !URL.canParse(image)) return null;
  const { host, pathname } = new URL(image);
  const isHere = typeof location === 'undefined' || host === location.host;
  return isHere && OWN_PATH.test(pathname) ? pathname : null;
}

/** The picture of a token if this site has it, so that no other site gets a request; else the token's letter. */
export function OwnPicture({ symbol, seed, image }: TokenPictureProps) {
  const path = ownPath(image);
  const picture = useLoadedPicture(path);
  return <TokenPicture symbol={symbol} seed={seed} src={picture.type === 'shown' ? path : null} />;
}
