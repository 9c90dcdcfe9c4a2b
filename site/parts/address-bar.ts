/** What the page shows, such as a swap's id, is in its URL, so that a reload or a link finds it again. */
export const fromAddressBar = (name: string): string | null => {
  const value = new URLSearchParams(location.search).get(name);
  return value === null || value === '' ? null : value.slice(0, 200);
};

export function toAddressBar(name: string, value: string | null): void {
  const url = new URL(location.href);
  if (value === null) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  history.replaceState(null, '', url);
}
