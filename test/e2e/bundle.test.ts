import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';

/** Bytes of the script that `wrangler deploy` uploads, gzipped. The platform reads it before an isolate's first answer. */
const MAX_BYTES = 600_000;

it('the Worker bundle is small enough for a new isolate to read quickly', () => {
  const { WORLD_BUNDLES = '' } = process.env;
  const script = readFileSync(join(WORLD_BUNDLES, 'bundle/worker.js'));
  expect(gzipSync(script).length).toBeLessThanOrEqual(MAX_BYTES);
});
