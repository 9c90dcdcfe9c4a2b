/**
 * A Worker with the custodian's object of a different release, as for minutes after a deployment or a rollback. The earlier
 * release is the last tag, or the committed source before the first one. `PREVIOUS_RELEASE=FOLDER` takes the checkout in
 * that folder.
 * @module-tag deep
 */

import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { checkOutLastTag } from '../kit/last-tag.ts';
import { useFolder } from '../kit/use-folder.ts';
import { bundleWorker } from '../world/worker-bundle.ts';
import { startWorld } from '../world/world.ts';
import { tourService } from './service-tour.ts';

const folder = useFolder('sluice-mixed-');
let earlier: string;
let current: string;
beforeAll(async () => {
  const checkout = process.env.PREVIOUS_RELEASE ?? checkOutLastTag(join(folder, 'checkout'));
  earlier = await bundleWorker(checkout, join(folder, 'earlier'), folder);
  // Each release has its own folder, because its modules are relative to the bundle.
  current = await bundleWorker('.', join(folder, 'current'), folder);
});

test.each([
  ['a new Worker', 'an earlier object', () => ({ bundlePath: current, objectBundlePath: earlier })],
  ['an earlier Worker', 'a new object', () => ({ bundlePath: earlier, objectBundlePath: current })],
])('%s with %s serves or refuses every call of a customer', async (_worker, _object, release) => {
  const world = await startWorld({
    cron: false,
    blockMs: 500,
    settleDelayMs: 500,
    slotMs: 50,
    release: release(),
  });
  try {
    const document = (await (await world.fetch('/api/openapi.json')).json()) as ApiDocument;
    const visits = await tourService(world, document);
    const failed = visits.filter(
      ({ status, body }) => status === 500 && JSON.stringify(body).includes('INTERNAL'),
    );
    expect(failed).toEqual([]);
    const bodies = visits.map(({ body }) => body);
    expect(bodies).toContainEqual(expect.objectContaining({ initiated: true }));
    expect(bodies).toContainEqual(expect.objectContaining({ ok: true, status: 'completed' }));
    expect(world.worker.logs().filter((line) => line.includes('"unexpected"'))).toEqual([]);
  } finally {
    await world.stop();
  }
});
