import { useState } from 'hono/jsx';
import type { Input, NostrFeed } from '../../packages/client/src/index.ts';
import { call, type Failure, failureFrom } from '../api/call.ts';
import { useQuery } from '../api/query.ts';
import { Check, Field, Form } from './field.tsx';
import { counted } from './format.ts';
import { Loaded } from './loaded.tsx';
import { NostrPost, type Post } from './nostr-post.tsx';
import { Failed, Notice, Waiting } from './notice.tsx';

type Page = Pick<NostrFeed, 'posts' | 'next_cursor' | 'relay_status' | 'as_of' | 'stale' | 'ok' | 'error'>;

const STATES: Readonly<Record<string, string>> = {
  eose: 'responded',
  closed: 'refused',
  unreachable: 'not reached',
  lost: 'lost on the way',
  timeout: 'too slow',
  too_large: 'sent too much',
  forged: 'sent forged posts',
};

const Relays = ({ relays }: { relays: Page['relay_status'] }) => (
  <details>
    <summary>
      {relays.filter(({ ok }) => ok).length} of {counted(relays.length, 'relay')} responded
    </summary>
    <ul>
      {relays.map(({ relay, ok, state, events }) => (
        <li>
          <code>{relay}</code> <span class={`mark ${ok ? 'good' : 'warn'}`}>{STATES[state] ?? state}</span>{' '}
          {counted(events, 'post')}
        </li>
      ))}
    </ul>
  </details>
);

/** The service's own posts, whose response also names its key. */
const OWN = { limit: 5 };

type Feed =
  | { readonly name: 'getNostrFeed'; readonly input: Input<'getNostrFeed'> }
  | { readonly name: 'getNostrPosts'; readonly input: Input<'getNostrPosts'> };

/** The newest of all posts with one author and text: some authors send a text several times. */
export function withoutRepeats(posts: readonly Post[]): Post[] {
  const found = new Map<string, Post>();
  for (const post of posts) {
    const key = `${post.pubkey} ${post.content}`;
    if (!found.has(key)) found.set(key, post);
  }
  return [...found.values()];
}

function Posts({ feed: { name, input } }: { feed: Feed }) {
  const own = useQuery('getNostrPosts', OWN).value?.pubkey ?? null;
  const of = JSON.stringify(input);
  const first = useQuery<Feed['name']>(name, input);
  const [more, setMore] = useState<{
    readonly of: string;
    readonly posts: Post[];
    readonly next: string | null;
  } | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [busy, setBusy] = useState(false);
  const extra = more?.of === of ? more : null;
  const older = async (cursor: string): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      const { value } = await call<Feed['name']>(name, { ...input, cursor });
      setMore({ of, posts: [...(extra?.posts ?? []), ...value.posts], next: value.next_cursor });
    } catch (thrown) {
      setFailure(failureFrom(thrown));
    }
    setBusy(false);
  };
  const show = (page: Page) => {
    if (!page.ok) return <Notice kind="info" title={page.error ?? 'No posts can be shown.'} />;
    const cursor = extra ? extra.next : page.next_cursor;
    const posts = withoutRepeats([...page.posts, ...(extra?.posts ?? [])]);
    return (
      <>
        {posts.length === 0 ? (
          <p class="card empty">No post matches. Try other labels, or show all posts.</p>
        ) : (
          <ul class="posts" aria-label="Posts">
            {posts.map((post) => (
              <NostrPost post={post} isOwn={post.pubkey === own} />
            ))}
          </ul>
        )}
        {busy ? <Waiting what="Reading older posts." /> : null}
        <Failed failure={failure} />
        {cursor === null ? null : (
          <button type="button" class="quiet start" disabled={busy} onClick={() => older(cursor)}>
            Older posts
          </button>
        )}
        <Relays relays={page.relay_status} />
      </>
    );
  };
  return <Loaded query={first} waiting="Reading the relays." card show={show} />;
}

export function NostrFeedView() {
  const [labels, setLabels] = useState('ai, blockchain, defi');
  const [all, setAll] = useState(false);
  const [input, setInput] = useState<Input<'getNostrFeed'>>({ limit: 10 });
  const show = (everything: boolean): void =>
    setInput({ limit: 10, ...(everything ? { ai_only: 'false' } : { topic_labels: labels.trim() }) });
  return (
    <>
      <div class="card">
        <Form label="Filter" submit={() => show(all)}>
          <div class="pair">
            <Field
              id="nostr-labels"
              label="Labels"
              value={labels}
              set={setLabels}
              hint="A post must have one of them"
            />
            <Check
              id="nostr-all"
              label="All posts, with any label"
              on={all}
              set={(on) => {
                setAll(on);
                show(on);
              }}
            />
          </div>
          <button type="submit" class="start quiet">
            Show
          </button>
        </Form>
      </div>
      <Posts feed={{ name: 'getNostrFeed', input }} />
    </>
  );
}

export const OwnPosts = () => <Posts feed={{ name: 'getNostrPosts', input: OWN }} />;
