/**
 * A picture of the visitor's device as wallets draw it. Loaded once a file is chosen.
 * @module
 */
import type { Child } from 'hono/jsx';
import { Away } from './explorer-links.tsx';

/** Wallets draw a token's picture in at most this size. */
const MOST_PX = 512;
const MOST_BYTES = 100_000;
const QUALITIES = [0.9, 0.75, 0.6, 0.4];

export type SmallPicture = {
  /** The picture itself, as a `data:` URL. */
  readonly url: string;
  /** Its file and its size. */
  readonly about: Child;
};

type Facts = {
  readonly url: string;
  /** A file name whose ending is the type that the browser could write. */
  readonly name: string;
  readonly sidePx: number;
  readonly bytes: number;
};

/** Bytes behind the base64 text of a `data:` URL. */
const bytesOf = (url: string): number => Math.floor(((url.length - url.indexOf(',') - 1) * 3) / 4);

/** The middle square of a picture, in this browser only. @throws if the browser cannot read the file as a picture */
export async function shrinkPicture(file: Blob): Promise<SmallPicture> {
  const bitmap = await createImageBitmap(file);
  const cut = Math.min(bitmap.width, bitmap.height);
  const sidePx = Math.min(MOST_PX, cut);
  const canvas = document.createElement('canvas');
  canvas.width = sidePx;
  canvas.height = sidePx;
  const [left, top] = [(bitmap.width - cut) / 2, (bitmap.height - cut) / 2];
  canvas.getContext('2d')?.drawImage(bitmap, left, top, cut, cut, 0, 0, sidePx, sidePx);
  bitmap.close();
  // A browser that cannot write WebP writes PNG, whose size does not depend on the quality.
  let url = '';
  for (const quality of QUALITIES) {
    url = canvas.toDataURL('image/webp', quality);
    if (bytesOf(url) <= MOST_BYTES) break;
  }
  const ending = url.startsWith('data:image/webp') ? 'webp' : 'png';
  const facts = { url, name: `token.${ending}`, sidePx, bytes: bytesOf(url) };
  return { url, about: <SmallFile {...facts} /> };
}

const SmallFile = ({ url, name, sidePx, bytes }: Facts) => (
  <p class="row">
    <a class="button quiet" href={url} download={name}>
      Save the small picture
    </a>
    <span class="fine" role="status">
      {sidePx} × {sidePx} pixels, {Math.ceil(bytes / 1000)} KB
    </span>
  </p>
);

/** Sites that give a direct link to a picture. */
const PICTURE_HOSTS = ['https://postimages.org', 'https://github.com/new'] as const;

/** How a picture of this device gets the link that the order needs. */
export const ToTheWeb = ({ about, isLinked }: { about: Child; isLinked: boolean }) => (
  <ol class="numbered">
    <li>{about}</li>
    <li>
      <strong>Put it on the web.</strong> Sluice stores no pictures, and wallets load yours from where you put
      it. The quick way is <Away href={PICTURE_HOSTS[0]}>Postimages</Away>: upload the small picture and copy
      “Direct link”. You can also use your own web site, or a public{' '}
      <Away href={PICTURE_HOSTS[1]}>GitHub</Away> repository (button “Raw”).
    </li>
    <li>
      <strong>Paste its link below.</strong>
      {isLinked ? '' : ' Until then the token has no picture.'}
    </li>
  </ol>
);
