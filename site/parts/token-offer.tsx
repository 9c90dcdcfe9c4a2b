/** What the creator of a token gets for its price. */
export const TokenOffer = () => (
  <ul class="rights paired" aria-label="What a creator gets">
    <li class="good">Your name, symbol and picture, as wallets show them.</li>
    <li class="good">
      The whole supply is in your wallet, and Sluice keeps no right over the token. You send it to whom you
      like; each of them needs a Solana wallet.
    </li>
    <li class="good">
      Its own page with its supply and rights. You can share it, and add the token to a wallet from there.
    </li>
    <li class="good">A listing: the search on this site finds the token at once.</li>
  </ul>
);
