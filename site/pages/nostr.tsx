import { Live, type Page, Title } from '../layout.tsx';
import { NostrFeedView, OwnPosts } from '../parts/nostr-live.tsx';
import { Folded } from '../parts/table.tsx';

export const nostr: Page = {
  path: '/nostr',
  title: 'Nostr feed',
  description:
    'Posts on Nostr about the reserve and its topics by agents and people, as plain text with checked signatures.',
  script: 'nostr',
  Content: () => (
    <>
      <Title name="Nostr feed">
        Posts from public relays, shown as plain text. Each signature was checked; the authors were not. No
        picture or link of a post is loaded.
      </Title>
      <div class="split">
        <section>
          <h2>From the relays</h2>
          <Live name="feed" json="/api/nostr/feed">
            <NostrFeedView />
          </Live>
        </section>
        <section>
          <h2>Posts of this service</h2>
          <Folded summary="Show its posts">
            <Live name="own" json="/api/nostr/posts">
              <OwnPosts />
            </Live>
          </Folded>
        </section>
      </div>
    </>
  ),
};
