import { useState } from 'hono/jsx';
import type { SmallPicture } from './shrink-picture.tsx';

type Made = SmallPicture | 'none' | 'unreadable';

async function madeFrom(file: File): Promise<Made> {
  const { shrinkPicture } = await import('./shrink-picture.tsx');
  return shrinkPicture(file).catch(() => 'unreadable');
}

/** Makes a picture of this device small, and says where to put it: the service stores none. */
export function PictureFile({ made: show }: { made: (url: string | null) => void }) {
  const [made, setMade] = useState<Made>('none');
  const picture = typeof made === 'string' ? null : made;
  const take = async (file: File | undefined): Promise<void> => {
    const next = file === undefined ? 'none' : await madeFrom(file);
    setMade(next);
    show(typeof next === 'string' ? null : next.url);
  };
  return (
    <>
      <div class="field">
        <label for="token-file">A file on this device</label>
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
          Shrunk to a square in this browser. Nothing is sent
        </span>
        {made === 'unreadable' ? (
          <span class="wrong" role="alert">
            This browser cannot read the file as a picture. Choose a PNG, JPEG or WebP file.
          </span>
        ) : null}
      </div>
      {picture?.about}
    </>
  );
}
