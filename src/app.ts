/**
 * The whole API in one app, for the API document and for tests. The Worker loads one area at a time.
 * @module
 */
import { AREAS } from './areas.ts';
import { type DepsFor, mountedApp } from './mounted-app.ts';

export type { Deps } from './mounted-app.ts';

const mounts = await Promise.all(AREAS.map(({ load }) => load()));

export const createApp = (depsFor: DepsFor) => mountedApp(depsFor, mounts);
