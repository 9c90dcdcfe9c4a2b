/** @returns HTML of the islands of a page, by their names, rendered from responses by operation and input */
export function renderIslands(
  page: string,
  answers: Readonly<Record<string, unknown>>,
  id?: string,
): Readonly<Record<string, string>>;
