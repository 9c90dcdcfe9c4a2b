import { render } from 'hono/jsx/dom';
import { OperationSearch } from '../parts/operation-search.tsx';
import { TryOperation } from '../parts/try-operation.tsx';
import { mount } from './mount.tsx';

mount({ search: OperationSearch });

/** Each call becomes interactive when its operation is opened first. */
for (const place of document.querySelectorAll<HTMLElement>('[data-call]')) {
  const operation = place.closest('details');
  const start = (): void => render(<TryOperation callable={JSON.parse(place.dataset.call ?? '')} />, place);
  if (operation?.open) start();
  else operation?.addEventListener('toggle', start, { once: true });
}
