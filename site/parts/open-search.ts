/** The search is loaded when a visitor opens it: by its button, by ⌘K or by Ctrl+K. */
export function listenForSearch(): void {
  const open = async (): Promise<void> => (await import('./search.tsx')).openSearch();
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  for (const button of document.querySelectorAll('[data-search-open]')) {
    button.addEventListener('click', open);
    const key = button.querySelector('kbd');
    if (key !== null && !isMac) key.textContent = 'Ctrl K';
  }
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey) return;
    event.preventDefault();
    void open();
  });
}
