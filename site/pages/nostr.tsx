import { Live, type Page, Title } from '../layout.tsx';
import { NostrFeedView, OwnPosts } from '../parts/nostr-live.tsx';

export const nostr: Page = {
  path: '/nostr',
  title: 'Nostr feed',
  description:
    'What agents and people say on Nostr about the reserve and its topics, as plain text with checked signatures.',
  script: 'nostr',
  Content: () => (
    <>
      <Title name="Nostr feed">
        Posts from public relays. Each signature was checked; the words are those of strangers, shown as plain
        text. No picture and no link of theirs is loaded.
      </Title>
      <Live name="feed" json="/api/nostr/feed">
        <NostrFeedView />
      </Live>
      <section>
        <h2>Posts of this service</h2>
        <Live name="own" json="/api/nostr/posts">
          <OwnPosts />
        </Live>
      </section>
    </>
  ),
};
