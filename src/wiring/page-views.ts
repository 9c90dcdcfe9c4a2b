/**
 * The Durable Objects of the page views. Their sums are added, so a higher number needs no migration. A lower number
 * would lose the views of the removed objects.
 * @module
 */

import type { Config } from '../config.ts';
import type { PageViewsApi } from '../features/analytics/page-views-object.ts';

export const pageViewObjects = (env: Env, config: Config): readonly PageViewsApi[] =>
  Array.from({ length: config.PAGE_VIEW_OBJECTS }, (_, number) => env.PAGE_VIEWS.getByName(String(number)));
