import { GROUPS } from './parts/places.ts';

/** Paths of the pages that a search engine may list: those of the menu, and those that other pages link to. */
export const LISTED_PAGES: readonly string[] = [
  ...GROUPS.flatMap(([, , places]) => places.map(([path]) => path)).filter((path) => path !== '/llms.txt'),
  '/tokens/new',
  '/changes',
];
