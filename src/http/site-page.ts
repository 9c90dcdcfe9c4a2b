/**
 * Built pages of the site with first content from the service, for readers without scripts and for previews of links.
 * @module
 */
import { html, raw } from 'hono/html';

type Html = ReturnType<typeof html>;

export type SitePage = {
  readonly status?: 200 | 404 | 503;
  /** Replaces title, description and canonical URL. The picture of the preview stays the built one. */
  readonly head?: PageHead;
  /** First content of parts that scripts render, by name. */
  readonly islands?: Readonly<Record<string, Html | string>>;
  /** Responses that scripts show before their first own read, by operation. */
  readonly responses?: readonly { readonly name: string; readonly input: unknown; readonly value: unknown }[];
};

export type PageHead = {
  readonly title: string;
  readonly description: string;
  readonly url: string;
};

/** `2026-11-20 17:44:05 UTC` */
export const instant = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

const REPLACED = [
  'title',
  'meta[name="description"]',
  ...['title', 'description', 'url'].map((name) => `meta[property="og:${name}"]`),
  'link[rel="canonical"]',
].join(', ');

const headHtml = ({ title, description, url }: PageHead): Html =>
  html`<title>${title}</title>
<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<link rel="canonical" href="${url}">`;

/** A data block: browsers never run it, and no text inside can close it. */
const responsesHtml = (responses: NonNullable<SitePage['responses']>): Html => {
  const byKey = responses.map(({ name, input, value }) => [`${name} ${JSON.stringify(input)}`, value]);
  const json = JSON.stringify(Object.fromEntries(byKey)).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="first-answers">${raw(json)}</script>`;
};

/**
 * @param path of the built page, whose hashed scripts belong to the same deployment
 * @throws Error when the site does not have the page
 */
export async function sitePage(
  assets: Pick<Fetcher, 'fetch'>,
  path: string,
  content: SitePage | Promise<SitePage>,
): Promise<Response> {
  const [built, { status = 200, head, islands = {}, responses = [] }] = await Promise.all([
    assets.fetch(`https://assets${path}`),
    content,
  ]);
  if (!built.ok) throw new Error(`the site has no ${path}: ${built.status}`);
  const rewriter = new HTMLRewriter();
  const append = async (selector: string, added: Html): Promise<void> => {
    const text = String(await added);
    rewriter.on(selector, { element: (element) => void element.append(text, { html: true }) });
  };
  if (head !== undefined) {
    rewriter.on(REPLACED, { element: (element) => void element.remove() });
    await append('head', headHtml(head));
  }
  for (const [name, content] of Object.entries(islands)) {
    const text = String(await content);
    rewriter.on(`[data-island="${name}"]`, {
      element(element) {
        element.setAttribute('data-filled', '');
        element.setInnerContent(text, { html: true });
      },
    });
  }
  if (responses.length > 0) await append('body', responsesHtml(responses));
  const headers = new Headers(built.headers);
  // These headers describe the built page, not this response.
  for (const name of ['ETag', 'Content-Length', 'Cache-Control']) headers.delete(name);
  return rewriter.transform(new Response(built.body, { status, headers }));
}
