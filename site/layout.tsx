import type { Child } from 'hono/jsx';
import type { Assets } from './build/assets.ts';
import { Alerts } from './parts/alerts.tsx';
import { GROUPS, type Place } from './parts/places.ts';

export type Page = {
  /** Its path; `/tokens/new` is the file tokens/new.html. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** Name of the page's script in islands/. */
  readonly script: string;
  readonly Content: (props: { readonly assets: Assets }) => Child;
};

const isUnder = (path: string, place: string): boolean =>
  path === place ||
  (place !== '/' && path.startsWith(`${place}/`)) ||
  (place === '/tokens' && path === '/token');

const Places = ({ path, places }: { path: string; places: readonly Place[] }) => (
  <ul>
    {places.map(([place, name, about]) => (
      <li>
        <a href={place} {...(isUnder(path, place) ? { 'aria-current': 'page' as const } : {})}>
          {name}
          <small>{about}</small>
        </a>
      </li>
    ))}
  </ul>
);

/** Two posts, a raised gate, and water in front of and behind it. */
const Mark = () => (
  <svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true" focusable="false">
    <path class="mark-sol" d="M1 13q3-2 6 0v15H3a2 2 0 0 1-2-2z" />
    <path class="mark-btc" d="M12 17q4-2 8 0v11h-8z" />
    <path class="mark-absr" d="M25 19q3-2 6 0v7a2 2 0 0 1-2 2h-4z" />
    <rect class="mark-gate" x="8" y="3" width="3" height="25" rx="1.5" />
    <rect class="mark-gate" x="21" y="3" width="3" height="25" rx="1.5" />
  </svg>
);

/** Quiet, because each page has an act of its own. The form itself needs no link that leaves an open order. */
const CreateLink = ({ path }: { path: string }) =>
  path === '/tokens/new' ? null : (
    <a class="button quiet create" href="/tokens/new">
      Create<span class="create-what">{'\u00a0a token'}</span>
    </a>
  );

/** Popovers open without scripts, close with Escape or a click outside, and never move the header. */
const Header = ({ path }: { path: string }) => (
  <header class="top">
    <div class="wide">
      <a class="brand" href="/">
        <Mark />
        Sluice
      </a>
      <nav class="groups" aria-label="Pages">
        {GROUPS.map(([id, name, places]) => (
          <>
            <button
              type="button"
              popovertarget={`group-${id}`}
              class={places.some(([place]) => isUnder(path, place)) ? 'here' : ''}
            >
              {name}
              <span class="caret" aria-hidden="true" />
            </button>
            <div id={`group-${id}`} popover="auto" class="panel group-panel">
              <Places path={path} places={places} />
            </div>
          </>
        ))}
      </nav>
      <button type="button" class="search-button" data-search-open>
        <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
          <path d="M9 3a6 6 0 1 0 0 12A6 6 0 0 0 9 3zm4.500 10.500L17 17" />
        </svg>
        <span class="search-name">Search</span>
        <kbd>⌘K</kbd>
      </button>
      <CreateLink path={path} />
      <button type="button" popovertarget="menu" class="menu-button">
        Menu
      </button>
      <div id="menu" popover="auto" class="panel menu-panel">
        <CreateLink path={path} />
        <nav aria-label="All pages">
          {GROUPS.map(([, name, places]) => (
            <section>
              <h2 class="group-name">{name}</h2>
              <Places path={path} places={places} />
            </section>
          ))}
        </nav>
      </div>
    </div>
  </header>
);

const Footer = ({ release: { version, commit, source } }: Pick<Assets, 'release'>) => (
  <footer class="bottom">
    <div class="wide">
      <nav aria-label="Pages by subject">
        {GROUPS.map(([, name, places]) => (
          <section class="menu-group">
            <h2 class="group-name">{name}</h2>
            <ul>
              {places.map(([place, title]) => (
                <li>
                  <a href={place}>{title}</a>
                </li>
              ))}
            </ul>
          </section>
        ))}
        <section>
          <h2 class="group-name">Service</h2>
          <ul>
            <li>
              <a href="/trust#operator">Operator and contact</a>
            </li>
            <li>
              <a href={source} rel="noopener noreferrer">
                Source code
              </a>
            </li>
            <li>
              <a href="/changes">Changes</a>
            </li>
            <li>
              <a href="/licenses.md">Licences</a>
            </li>
            <li>
              <a href="/api/openapi.json">OpenAPI document</a>
            </li>
          </ul>
        </section>
      </nav>
      <p class="fine">
        Release {version}
        {commit === null ? null : (
          <>
            , commit{' '}
            <a href={`${source}/commit/${commit.replace('-dirty', '')}`} rel="noopener noreferrer">
              <code>{commit.slice(0, 10)}</code>
            </a>
          </>
        )}
        . No cookies, and nothing from other sites unless you ask for it. Page views are counted unless your
        browser sends Do Not Track or Global Privacy Control: <a href="/visitors">what is counted</a>.
      </p>
    </div>
  </footer>
);

const Icons = () => (
  <>
    <link rel="alternate" type="application/atom+xml" title="Releases of Sluice" href="/changes.atom" />
    <link rel="icon" href="/icon.svg" type="image/svg+xml" />
    <link rel="icon" href="/icon-32.png" sizes="32x32" type="image/png" />
    <link rel="apple-touch-icon" href="/icon-180.png" />
    <link rel="manifest" href="/site.webmanifest" />
  </>
);

type Picture = { readonly file: string; readonly size: readonly [number, number]; readonly alt: string };
const CARD: Picture = { file: '/card.png', size: [1200, 630], alt: 'SOL becomes BTC, and ABSR counts it' };
/** For tokens, which the reserve on the card does not back. */
const LOGO: Picture = { file: '/icon-512.png', size: [512, 512], alt: 'The logo of Sluice' };

/** What a chat shows beside a link. */
const Preview = ({ page: { path }, origin }: { page: Page; origin: string }) => {
  const { file, size, alt } = path === '/token' ? LOGO : CARD;
  return (
    <>
      <meta property="og:image" content={origin + file} />
      <meta property="og:image:width" content={`${size[0]}`} />
      <meta property="og:image:height" content={`${size[1]}`} />
      <meta property="og:image:alt" content={alt} />
      <meta name="twitter:card" content={file === CARD.file ? 'summary_large_image' : 'summary'} />
    </>
  );
};

/** What a page loads, and what a shared link to it shows. */
function Head({ page, assets }: { page: Page; assets: Assets }) {
  const { path, title, description } = page;
  const script = assets.scripts[page.script];
  if (script === undefined) throw new Error(`${path}: no script ${page.script}`);
  const heading = path === '/' ? `Sluice: ${title}` : `${title} · Sluice`;
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{heading}</title>
      <meta name="description" content={description} />
      <meta name="color-scheme" content="light dark" />
      <meta name="theme-color" content="#fafaf7" media="(prefers-color-scheme: light)" />
      <meta name="theme-color" content="#0c1312" media="(prefers-color-scheme: dark)" />
      <meta property="og:title" content={heading} />
      <meta property="og:description" content={description} />
      <meta property="og:type" content="website" />
      <Preview page={page} origin={assets.origin} />
      {assets.origin === '' || path === '/404' ? null : (
        <>
          <meta property="og:url" content={assets.origin + path} />
          <link rel="canonical" href={assets.origin + path} />
        </>
      )}
      <Icons />
      <link rel="preload" href={assets.font} as="font" type="font/woff2" crossorigin="anonymous" />
      <link rel="stylesheet" href={assets.style} />
      <noscript>
        <link rel="stylesheet" href="/noscript.css" />
      </noscript>
      {script.imports.map((file) => (
        <link rel="modulepreload" href={file} fetchpriority="low" />
      ))}
      <script type="module" src={script.file} fetchpriority="low" />
      <script defer src="/beacon.js" />
    </head>
  );
}

export const Document = ({ page, assets }: { page: Page; assets: Assets }) => (
  <html lang="en">
    <Head page={page} assets={assets} />
    <body>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      {assets.isDemonstration ? (
        <aside class="demonstration" aria-label="Demonstration">
          <p class="wide">
            <strong>Demonstration:</strong> chains and coins are simulated and cost nothing. Public explorers
            do not show them.
          </p>
        </aside>
      ) : null}
      <Header path={page.path} />
      <section class="alerts" data-island="alerts" aria-label="Alerts">
        <Alerts />
      </section>
      <main id="content" class="wide" tabindex={-1}>
        <page.Content assets={assets} />
      </main>
      <Footer release={assets.release} />
    </body>
  </html>
);

type LiveProps = {
  readonly name: string;
  readonly children?: Child;
  /** Where the same data is without scripts. */
  readonly json?: string;
  /** Whether the part is a form, whose calls `/llms.txt` describes. */
  readonly isForm?: boolean;
};

/** A part that scripts render. Without scripts it is hidden, and a line says where the same is without them. */
export const Live = ({ name, children, json, isForm = false }: LiveProps) => (
  <>
    <div data-island={name} class="live">
      {children}
    </div>
    {isForm ? (
      <noscript>
        <p class="card plain">
          This form needs JavaScript. The API does the same without it: <a href="/llms.txt">/llms.txt</a>
        </p>
      </noscript>
    ) : null}
    {json === undefined ? null : (
      <noscript>
        <p class="card plain">
          Without JavaScript, read these figures as text: <a href={json}>{json}</a>
        </p>
      </noscript>
    )}
  </>
);

export const Title = ({ name, children }: { name: string; children?: Child }) => (
  <div class="title">
    <h1>{name}</h1>
    <p class="lead">{children}</p>
  </div>
);
