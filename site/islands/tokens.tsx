import { ListingRequest } from '../parts/listing-request.tsx';
import { ResumeOrder } from '../parts/resume-order.tsx';
import { TokenBrowser } from '../parts/token-list.tsx';
import { CreationPrice } from '../parts/token-price.tsx';
import { mount } from './mount.tsx';

mount({
  order: ResumeOrder,
  browser: TokenBrowser,
  price: CreationPrice,
  listing: () => (
    <div class="card narrow half">
      <ListingRequest />
    </div>
  ),
});
