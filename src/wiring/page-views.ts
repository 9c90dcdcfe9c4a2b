/**
 * The Durable Objects of the page views.
 * @module
 */
import type { PageViewsApi } from '../features/analytics/page-views-object.ts';
import { PAGE_VIEW_OBJECTS } from '../features/analytics/page-views-store.ts';

export const pageViewObjects = (env: Env): readonly PageViewsApi[] =>
  Array.from({ length: PAGE_VIEW_OBJECTS }, (_, number) => env.PAGE_VIEWS.getByName(String(number)));
