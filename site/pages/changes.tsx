import type { Changes } from '../build/changelog.ts';
import { type Page, Title } from '../layout.tsx';

export const changesPage = (changes: readonly Changes[]): Page => ({
  path: '/changes',
  title: 'Changes',
  description: 'What changed for callers and operators of the service, release by release.',
  script: 'plain',
  Content: () => (
    <>
      <Title name="Changes">
        What changed for callers and operators. The <a href="/changes.atom">Atom feed</a> has the releases.
      </Title>
      {changes.map(({ version, date, html }) => (
        <section id={`v${version}`}>
          <h2>
            {date === null ? 'Not released yet' : version}
            {date === null ? null : (
              <>
                {', '}
                <time datetime={date}>{date}</time>
              </>
            )}
          </h2>
          <div class="stack written" dangerouslySetInnerHTML={{ __html: html }} />
        </section>
      ))}
    </>
  ),
});
