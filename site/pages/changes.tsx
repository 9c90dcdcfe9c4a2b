import type { Release } from '../build/assets.ts';
import type { Changes } from '../build/changelog.ts';
import { type Page, Title } from '../layout.tsx';

/** The running release has the undated changes, unless a dated entry has its version. */
const headingOf = (changes: readonly Changes[], { version, date }: Changes, release: Release): string => {
  if (date !== null) return version;
  const isDated = changes.some((other) => other.date !== null && other.version === release.version);
  return `${isDated ? 'After ' : ''}${release.version}, not dated yet`;
};

const Running = ({ release: { version, commit } }: { release: Release }) => (
  <>
    This site was built from version {version}
    {commit === null ? null : (
      <>
        , commit <code>{commit.slice(0, 10)}</code>
      </>
    )}
    .
  </>
);

export const changesPage = (changes: readonly Changes[]): Page => ({
  path: '/changes',
  title: 'Changes',
  description: 'What changed for callers and operators of the service, release by release.',
  script: 'plain',
  Content: ({ assets: { release } }) => (
    <>
      <Title name="Changes">
        <Running release={release} /> The <a href="/changes.atom">Atom feed</a> has each release once it has a
        date.
      </Title>
      {changes.map(({ version, date, html }) => (
        <section id={`v${version}`}>
          <h2>
            {headingOf(changes, { version, date, html }, release)}
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
