import type { NostrFeed } from '../../packages/client/src/index.ts';
import { CopyButton } from './copyable.tsx';
import { Away } from './explorer-links.tsx';
import { fromUnixSeconds, shortened } from './format.ts';
import { Age } from './freshness.tsx';
import { npubOf } from './nostr-key.ts';
import { Foreign } from './token-text.tsx';

export type Post = NostrFeed['posts'][number];

const MAX_CHARS = 2000;

/** Text of an untrusted author: plain text only, hidden behind its own content warning if there is one. */
const Words = ({ text }: { text: string }) => (
  <p class="prose">
    <bdi>{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</bdi>
  </p>
);

type NostrPostProps = {
  readonly post: Post;
  /** Whether this service wrote it. */
  readonly isOwn: boolean;
};

export const NostrPost = ({ post, isOwn }: NostrPostProps) => (
  <li>
    <article class="stack post">
      <p class="row fine">
        {isOwn ? <strong class="mark good">this service</strong> : null}
        <code title={npubOf(post.pubkey)}>{shortened(npubOf(post.pubkey))}</code>
        <Age iso={fromUnixSeconds(post.created_at)} />
        {post.labels.map((label) => (
          <span class="mark">
            <Foreign text={label} />
          </span>
        ))}
      </p>
      {post.content_warning === null ? (
        <Words text={post.content} />
      ) : (
        <details>
          <summary>
            Hidden by its author: <Foreign text={post.content_warning || 'no reason given'} />
          </summary>
          <Words text={post.content} />
        </details>
      )}
      <p class="row fine">
        {post.root?.url ? (
          <span>
            About{' '}
            <Away href={post.root.url}>
              <Foreign text={post.root.url.replace(/^https?:\/\//, '')} />
            </Away>
          </span>
        ) : null}
        <Away href={`https://njump.me/${encodeURIComponent(post.nevent)}`}>At njump.me</Away>
        <CopyButton text={post.nevent} label="link of the post" />
      </p>
    </article>
  </li>
);
