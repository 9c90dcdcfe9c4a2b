/** What the creator of a token gets for its price. */
export const TokenOffer = () => (
  <ul class="rights paired" aria-label="What a creator gets">
    <li class="good">
      Your name, symbol and picture, as wallets show them. Sluice serves the data behind the token’s link; the
      picture stays at the site where you put it.
    </li>
    <li class="good">
      The whole supply is in your wallet, and Sluice keeps no right over supply, name or balances.
    </li>
    <li class="good">
      You give or sell it to whom you like. Each of them needs a Solana wallet, and your wallet pays Solana
      the rent of an account for each.
    </li>
    <li class="good">
      Its own page with supply and rights, to share. The search on this site finds the token at once.
    </li>
  </ul>
);
