import { type Page, Title } from '../layout.tsx';

export const missing: Page = {
  path: '/404',
  title: 'Not found',
  description: 'There is no page at this address.',
  script: 'plain',
  Content: () => (
    <>
      <Title name="No page here">There is no page at this address. The link may be old or mistyped.</Title>
      <p class="narrow">
        A token without a page here is not listed, and it is neither ABSR nor ASRY. <a href="/trust">Trust</a>{' '}
        shows their official mints.
      </p>
      <ul class="doors narrow">
        {[
          ['/', 'Overview', 'SOL, BTC and the ABSR token'],
          ['/reserves', 'Reserves and proof', 'Check the reserve in your browser'],
          ['/tokens', 'Tokens', 'Find, create or list a token'],
          ['/docs', 'API reference', 'Every operation, with examples'],
        ].map(([path, name, about]) => (
          <li>
            <a href={path}>{name}</a>
            <span class="fine">{about}</span>
          </li>
        ))}
      </ul>
    </>
  ),
};
