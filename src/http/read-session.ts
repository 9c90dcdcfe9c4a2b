/**
 * Reads of D1 that a replica may serve. All reads of one request share a session, so that a later read never sees older
 * rows than an earlier one. A request can continue from the bookmark of an earlier response; its reads then see at
 * least the changes that the earlier request made.
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { within } from './within.ts';

/** A database, for reads only: a later request might not see a row written through it. */
export type D1Reads = Pick<D1Database, 'prepare' | 'batch'>;

/** Header of a response to a request that changed D1, and of a later request that must see the change. */
export const BOOKMARK_HEADER = 'X-Data-Bookmark';

/** D1 compares bookmarks as strings. Other strings would cause an error, or be taken for a session constraint. */
const BOOKMARK = /^[0-9a-f]+(?:-[0-9a-f]+)*$/;
const MAX_BOOKMARK_LENGTH = 200;
/**
 * Longest wait for a bookmark. The change is already written, so after this wait the response is sent without a
 * bookmark.
 */
const BOOKMARK_TIMEOUT_MS = 1_000;

type RequestReads = {
  readonly bookmark: string | undefined;
  session: D1DatabaseSession | undefined;
  causedRows: boolean;
};

const requests = new AsyncLocalStorage<RequestReads>();

function bookmarkOf(request: Request): string | undefined {
  const sent = request.headers.get(BOOKMARK_HEADER);
  return sent !== null && sent.length <= MAX_BOOKMARK_LENGTH && BOOKMARK.test(sent) ? sent : undefined;
}

/** Reads through the current request's session. Outside a request, each statement or batch opens a new session. */
export function replicatedReads(db: D1Database): D1Reads {
  function session(): D1DatabaseSession {
    const request = requests.getStore();
    if (request === undefined) return db.withSession();
    request.session ??= db.withSession(request.bookmark);
    return request.session;
  }
  return {
    prepare: (query) => session().prepare(query),
    batch: (statements) => session().batch(statements),
  };
}

/**
 * Runs a read whose result is shared with other requests, in its own session, without the current request's bookmark.
 */
export const withoutBookmark = <T>(read: () => T): T =>
  requests.run({ bookmark: undefined, session: undefined, causedRows: false }, read);

/** Records that the current request changed D1, so that its response carries a bookmark. */
export function noteCausedRows(): void {
  const request = requests.getStore();
  if (request !== undefined) request.causedRows = true;
}

/** Runs a request with its own session. Adds a bookmark to a successful response if the request changed D1. */
export async function inReadSession(
  request: Request,
  db: D1Database,
  run: () => Response | Promise<Response>,
): Promise<Response> {
  const reads: RequestReads = { bookmark: bookmarkOf(request), session: undefined, causedRows: false };
  const response = await requests.run(reads, run);
  if (reads.causedRows && response.ok) {
    const bookmark = await latestBookmark(db);
    if (bookmark !== null) response.headers.set(BOOKMARK_HEADER, bookmark);
  }
  return response;
}

/** The primary's bookmark; null if D1 does not return it in time, because the response must not depend on it. */
async function latestBookmark(db: D1Database): Promise<string | null> {
  const session = db.withSession('first-primary');
  const read = session.prepare('VALUES (1)').run();
  const isRead = read.then(
    () => true,
    () => false,
  );
  return (await within(isRead, BOOKMARK_TIMEOUT_MS)) ? session.getBookmark() : null;
}
