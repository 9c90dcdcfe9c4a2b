/** What the creator of a token gets for its price. */
export const TokenOffer = () => (
  <ul class="rights paired" aria-label="What a creator gets">
    <li class="good">Your name, symbol and picture, as wallets show them.</li>
    <li class="good">The whole supply is in your wallet, and Sluice keeps no right over the token.</li>
    <li class="good">A page of its own, with its supply and rights, to share or add to a wallet.</li>
    <li class="good">A listing: the search on this site finds the token at once.</li>
  </ul>
);
