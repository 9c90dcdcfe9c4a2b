/**
 * The Durable Objects of the page views. The statistics add up the sums of all objects, so more objects need no
 * migration. With fewer objects, the views of the removed ones would be lost.
 * @module
 */

import type { Config } from '../config.ts';
import type { PageViewsApi } from '../features/analytics/page-views-object.ts';

export const pageViewObjects = (env: Env, config: Config): readonly PageViewsApi[] =>
  Array.from({ length: config.PAGE_VIEW_OBJECTS }, (_, number) => env.PAGE_VIEWS.getByName(String(number)));
