import { ListingRequest } from '../parts/listing-request.tsx';
import { TokenBrowser } from '../parts/token-list.tsx';
import { mount } from './mount.tsx';

mount({
  browser: TokenBrowser,
  listing: () => (
    <div class="card narrow">
      <ListingRequest />
    </div>
  ),
});
