import { useState } from 'hono/jsx';
import type { SmallPicture } from './shrink-picture.ts';

type Made =
  | { readonly type: 'none' }
  | { readonly type: 'unreadable' }
  | { readonly type: 'made'; readonly picture: SmallPicture };

async function madeFrom(file: File): Promise<Made> {
  const { shrinkPicture } = await import('./shrink-picture.ts');
  return shrinkPicture(file).then(
    (picture) => ({ type: 'made', picture }),
    () => ({ type: 'unreadable' }),
  );
}

/** Makes a picture of this device small, and says where to put it: the service stores none. */
export function PictureFile({ made: show }: { made: (url: string | null) => void }) {
  const [made, setMade] = useState<Made>({ type: 'none' });
  const take = async (file: File | undefined): Promise<void> => {
    const next = file === undefined ? ({ type: 'none' } as const) : await madeFrom(file);
    setMade(next);
    show(next.type === 'made' ? next.picture.url : null);
  };
  return (
    <details>
      <summary>My picture is a file on this device</summary>
      <div class="stack picture-file">
        <div class="field">
          <label for="token-file">File</label>
          <input
            id="token-file"
            type="file"
            accept="image/*"
            aria-describedby="token-file-hint"
            onChange={(event: Event) =>
              take(event.target instanceof HTMLInputElement ? event.target.files?.[0] : undefined)
            }
          />
          <span class="hint" id="token-file-hint">
            Its middle becomes a square of at most 512 pixels, in this browser. Nothing is sent.
          </span>
          {made.type === 'unreadable' ? (
            <span class="wrong" role="alert">
              This browser cannot read the file as a picture. Choose a PNG, JPEG or WebP file.
            </span>
          ) : null}
        </div>
        {made.type === 'made' ? <WhereToPutIt picture={made.picture} /> : null}
      </div>
    </details>
  );
}

const WhereToPutIt = ({ picture: { url, name, sidePx, bytes } }: { picture: SmallPicture }) => (
  <>
    <p class="row">
      <a class="button quiet" href={url} download={name}>
        Save the small picture
      </a>
      <span class="fine" role="status">
        {sidePx} × {sidePx} pixels, {Math.ceil(bytes / 1000)} KB
      </span>
    </p>
    <p class="fine">
      This service stores no pictures. Put the saved file where anyone can load it for years, and enter its
      https address above:
    </p>
    <ul class="fine">
      <li>your own web site</li>
      <li>a public repository, such as GitHub: the address of the raw file</li>
      <li>a pinning service for IPFS or Arweave: the https address that it shows</li>
    </ul>
  </>
);
