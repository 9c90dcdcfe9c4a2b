import type { SmallPicture } from './shrink-picture.tsx';

export type Picked = SmallPicture | 'none' | 'unreadable';

async function pick(file: File | undefined): Promise<Picked> {
  if (file === undefined) return 'none';
  const { shrinkPicture } = await import('./shrink-picture.tsx');
  return shrinkPicture(file).catch(() => 'unreadable');
}

/** Makes a picture of this device small, and says where to put it: the service stores none. */
export const PictureFile = ({ picked, set }: { picked: Picked; set: (picked: Picked) => void }) => (
  <div class="field">
    <label for="token-file">A file on this device</label>
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
