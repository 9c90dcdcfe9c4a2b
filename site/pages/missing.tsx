import { type Page, Title } from '../layout.tsx';

export const missing: Page = {
  path: '/404',
  title: 'Not found',
  description: 'There is no page at this address.',
  Content: () => (
    <>
      <Title name="No page here">There is no page at this address. The link may be old or mistyped.</Title>
      <p>
        <a class="button" href="/">
          To the overview
        </a>
      </p>
    </>
  ),
};
