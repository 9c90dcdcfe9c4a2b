import { NostrFeedView, OwnPosts } from '../parts/nostr-live.tsx';
import { mount } from './mount.tsx';

mount({ feed: NostrFeedView, own: OwnPosts });
