import { COMMENT_KIND } from '../../chain/nostr/nip22.ts';
import type { Position } from './position.ts';
import type { FeedPage, FeedReader } from './read-feed.ts';

export type PostsDeps = { feeds: Pick<FeedReader, 'page'> };

/** The largest page of this feed. */
export const MAX_POSTS_LIMIT = 500;
const MAX_BYTES = 1024 * 1024;

/** Comments of one author, newest first, with any labels. The page begins after position `start`. */
export const getPosts = (
  { feeds }: PostsDeps,
  pubkey: string,
  start: Position | undefined,
  limit: number,
): Promise<FeedPage> =>
  feeds.page(
    {
      key: `author:${pubkey}`,
      isCommon: true,
      filter: { kinds: [COMMENT_KIND], authors: [pubkey] },
      accepts: (event) => event.kind === COMMENT_KIND && event.pubkey === pubkey,
      target: MAX_POSTS_LIMIT,
      maxBytes: MAX_BYTES,
    },
    start,
    limit,
  );
