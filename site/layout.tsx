import type { Child } from 'hono/jsx';
import type { Assets } from './build/assets.ts';

export type Page = {
  /** Where it is served; `/tokens/new` is the file tokens/new.html. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** Name of the file in islands/ that brings it to life. */
  readonly script?: string;
  readonly Content: () => Child;
};

const PLACES = [
  ['/', 'Overview'],
  ['/reserves', 'Reserves'],
  ['/swap', 'Swap'],
  ['/tokens', 'Tokens'],
  ['/asry', 'ASRY'],
  ['/pools', 'Pools'],
  ['/nostr', 'Nostr'],
  ['/agents', 'Agents'],
  ['/status', 'Status'],
  ['/visitors', 'Visitors'],
] as const;

const isUnder = (path: string, place: string): boolean =>
  path === place ||
  (place !== '/' && path.startsWith(`${place}/`)) ||
  (place === '/tokens' && path === '/token');

const Places = ({ path }: { path: string }) => (
  <ul>
    {PLACES.map(([place, name]) => (
      <li>
        <a href={place} {...(isUnder(path, place) ? { 'aria-current': 'page' as const } : {})}>
          {name}
        </a>
      </li>
    ))}
  </ul>
);

const Mark = () => (
  <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false">
    <path d="M3 4h18v3H3z" fill="currentColor" />
    <path d="M5 9h3v11H5zM16 9h3v11h-3z" fill="currentColor" />
    <path d="M8 14c1.4-1.3 2.6-1.3 4 0s2.6 1.3 4 0v6H8z" class="mark-water" />
  </svg>
);

export function Document({ page, assets }: { page: Page; assets: Assets }) {
  const { path, title, description, Content } = page;
  const script = page.script === undefined ? undefined : assets.scripts[page.script];
  if (page.script !== undefined && script === undefined) throw new Error(`${path}: no script ${page.script}`);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{path === '/' ? `Sluice: ${title}` : `${title} · Sluice`}</title>
        <meta name="description" content={description} />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href={assets.style} />
        <noscript>
          <link rel="stylesheet" href="/noscript.css" />
        </noscript>
        {script?.imports.map((file) => (
          <link rel="modulepreload" href={file} />
        ))}
        {script === undefined ? null : <script type="module" src={script.file} />}
        <script defer src="/beacon.js" />
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <header class="top">
          <div class="wide">
            <a class="brand" href="/">
              <Mark />
              Sluice
            </a>
            <nav class="places" aria-label="Pages">
              <Places path={path} />
            </nav>
            <details class="menu">
              <summary>Menu</summary>
              <nav aria-label="Pages">
                <Places path={path} />
              </nav>
            </details>
          </div>
        </header>
        <main id="content" class="wide" tabindex={-1}>
          <Content />
        </main>
        <footer class="bottom">
          <div class="wide">
            <p>
              <a href="/docs">API reference</a>
              <a href="/llms.txt">llms.txt</a>
              <a href="/api/openapi.json">OpenAPI</a>
              <a href="/api/proof">Proof as JSON</a>
              <a href="/api/status">Status as JSON</a>
              <a href="/licenses.md">Licences</a>
            </p>
            <p class="fine">
              No cookies, nothing loaded from other sites. Page views are counted without them, and not at all
              with Do Not Track or Global Privacy Control. <a href="/visitors">What is counted</a>
            </p>
          </div>
        </footer>
      </body>
    </html>
  );
}

/** A part that scripts bring to life; without scripts it is left out, and `instead` says where to read the same. */
export const Live = ({ name, children, json }: { name: string; children?: Child; json?: string }) => (
  <>
    <div data-island={name} class="live">
      {children}
    </div>
    {json === undefined ? null : (
      <noscript>
        <p class="notice info">
          Live figures need JavaScript. The same as text: <a href={json}>{json}</a>
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
