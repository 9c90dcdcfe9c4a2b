import { Live, type Page, Title } from '../layout.tsx';
import { Visitors } from '../parts/visitors-live.tsx';

export const visitors: Page = {
  path: '/visitors',
  title: 'Visitors',
  description: 'Page views of this site, counted without cookies, and the data that is stored about them.',
  script: 'visitors',
  Content: () => (
    <>
      <Title name="Visitors">
        Public page views. No cookie is set. With Do Not Track or Global Privacy Control, your views are not
        sent.
      </Title>
      <Live name="visitors" json="/api/analytics/stats">
        <Visitors />
      </Live>
      <section>
        <h2>What is kept</h2>
        <ul>
          <li>
            The path of the page, without its query, and the address of the page that led to it, without its
            query.
          </li>
          <li>
            Your IP address, in the log only, deleted after 30 days. The public list leaves out the last part
            of it.
          </li>
          <li>A hash that identifies a visitor for one day, made with a salt that changes each day.</li>
        </ul>
      </section>
    </>
  ),
};
