import { afterAll, afterEach, beforeAll } from 'vitest';
import { startWorld, type World, type WorldOptions } from './world.ts';

/** A value that is made when it is first used. */
export function lazy<T extends object>(make: () => T): T {
  let made: T | undefined;
  return new Proxy({} as T, {
    get(_, name) {
      made ??= make();
      return Reflect.get(made, name);
    },
  });
}

/**
 * The world of a test file: started before its tests, stopped after them. A fault ends with the test that planted it.
 * @param ready runs once it has started
 */
export function useWorld(
  options: WorldOptions | (() => Promise<WorldOptions>) = {},
  ready?: (world: World) => unknown,
): World {
  let world: World | undefined;
  beforeAll(async () => {
    world = await startWorld(typeof options === 'function' ? await options() : options);
    await ready?.(world);
  });
  afterEach(() => world?.faults.clear());
  afterAll(() => world?.stop());
  return lazy(() => {
    if (world === undefined) throw new Error('the world has not started');
    return world;
  });
}
