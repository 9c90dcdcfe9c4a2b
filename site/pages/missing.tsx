import { type Page, Title } from '../layout.tsx';

export const missing: Page = {
  path: '/404',
  title: 'Not found',
  description: 'No page has this address.',
  Content: () => (
    <>
      <Title name="No page here">The address leads nowhere. It may be old, or have a typing mistake.</Title>
      <p>
        <a class="button" href="/">
          To the overview
        </a>
      </p>
    </>
  ),
};
