/**
 * `/read?of=/api/reserves&of=/api/proof`: several reads of the API in one response, for the pages of the site. Each
 * read passes through all middleware separately, so it counts against its own limit.
 * @module
 */
import type { Context } from 'hono';
import { AppError } from '../core/errors.ts';

/** Maximum reads in one response. The page with the most reads needs nine. */
const MOST_READS = 12;
/** Maximum total length of the bodies in one response, in UTF-16 units. The site's pages need a tenth of it. */
const MOST_CHARS = 2 * 1024 * 1024;

type Service = { fetch(request: Request, env: unknown, context: unknown): Response | Promise<Response> };

/** @param isRead whether a page may read a path */
export const readSeveral =
  (service: Service, isRead: (path: string) => boolean) =>
  async (c: Context): Promise<Response> => {
    const asked = c.req.queries('of') ?? [];
    const urls = asked.flatMap((path) => (path.startsWith('/') ? [new URL(path, c.req.url)] : []));
    const { origin } = new URL(c.req.url);
    const isValid = urls.every((url) => url.origin === origin && isRead(url.pathname));
    if (urls.length === 0 || urls.length !== asked.length || urls.length > MOST_READS || !isValid)
      throw new AppError('INVALID_INPUT', `of must be 1 to ${MOST_READS} paths of GET routes of this API.`);
    const read = async (url: URL): Promise<Response> =>
      service.fetch(new Request(url, { headers: c.req.raw.headers }), c.env, c.executionCtx);
    let chars = 0;
    const parts = urls.map(async (url) => {
      const first = await read(url);
      const target = new URL(first.headers.get('Location') ?? url, url);
      // A page that sent this read alone would follow its redirect.
      const isMoved = first.status === 307 && target.origin === origin && isRead(target.pathname);
      const response = isMoved ? await read(target) : first;
      const body = await response.text();
      chars += body.length;
      if (chars > MOST_CHARS)
        throw new AppError(
          'INVALID_INPUT',
          'These reads are too long for one response. Send a separate request for each.',
        );
      return { status: response.status, headers: Object.fromEntries(response.headers), body };
    });
    return c.json(await Promise.all(parts), 200, { 'Cache-Control': 'no-store' });
  };
