/**
 * Schemas and operations of the API. `npm run docs` writes this file from the API document.
 * @module
 */
import { get, post } from './operation.ts';

export type Health = {
  ok: true;
  /** starting until the custodian has compared its journal with D1 and the chain */ state: 'starting' | 'running';
  release: Release;
  /** Solana address of the reserve; null if not configured */ reserveAddress: string | null;
  as_of: string;
};

/** The running release */
export type Release = {
  /** Version of the package */ version: string | null;
  /** Commit of the build; ends in -dirty if files had been changed */ commit: string | null;
  /** Id of the deployed Worker version */ id: string | null;
  /** When that version was uploaded */ deployedAt: string | null;
};

export type Ready = {
  ok: boolean;
  checks: Array<{ name: string; ok: boolean; reason: string | null }>;
  as_of: string;
};

export type Status = {
  ok: boolean;
  release: Release;
  upstreams: Array<{
    name: string;
    ok: boolean;
    /** Whether money depends on it; only such upstreams affect ok */ needed: boolean;
    /** Response time in milliseconds */ ms: number;
    /** open while calls are skipped after two timeouts */ circuit: 'closed' | 'open';
  }>;
  /** Null when it cannot be read */ cron: Array<{
    trigger: 'minute' | 'daily';
    lastRunAt: string | null;
    /** False if late, counted from its last run, or from the deployment */ ok: boolean;
  }> | null;
  custody: {
    /** Id of the Worker version that the custodian runs */ release: string | null;
    /** When the cron last woke it without a failure */ lastWakeAt: string | null;
    /** Why every swap was refused in the last minute, for a reason other than its amount */
    swapsRefused: { code: string; since: string } | null;
    /** Unexplained transactions, for which signing is frozen */ unexplainedSpends: Array<{
      signature: string;
      time: string | null;
      /** False if the ASRY or the mint of ABSR was moved without the reserve's key */ signedByReserve: boolean;
      moved: Array<{
        /** Null for SOL */ mint: string | null;
        atoms: string;
        /** Owner of the account that gained most */ receiver: string | null;
      }>;
      memo: string | null;
    }>;
    /** Reason why signing is stopped */ frozen: string | null;
    /** Reason why new operations are refused */ paused: string | null;
    /** Operations that have not ended */ openOperations: number;
    /** Operations, rewards and refunds that await the operator */ heldOperations: number;
    /** The day's mint of ABSR */ mint: {
      day: string;
      state: 'scheduled' | 'waiting' | 'minted' | 'none' | 'failed';
      reason: string | null;
      ok: boolean;
    } | null;
    mirrorBehindSince: string | null;
    /** Rows that D1 refuses while it accepts others */ mirrorRefusedRows: number;
    /** True from a restore of D1 until D1 has every row again */ mirrorRestored: boolean;
    /** Every cap */ limits: Array<{
      name: string;
      /** The bounded quantity */ label: string;
      unit: 'lamports' | 'count';
      /** 0: each operation separately; null: all open operations */ windowSeconds: number | null;
      used: string;
      maximum: string;
      left: string;
      /** Null while the limit has room */ availableAt: string | null;
    }>;
    /** Bridge quotes that estimates have used in two hours */ quotes: { used: number; maximum: number; left: number };
    /** Why the bridge refuses every swap until the operator acts */ bridgeFault: string | null;
    /** The agreement of the Solana nodes */ nodes: {
      configured: number;
      /** Nodes that must agree before money moves */ quorum: number;
      /** When two nodes last returned different finalized data, within the last hour */ disagreementAt: string | null;
      quorumMissingSince: string | null;
      /** When Solana stopped finalizing */ stalledSince: string | null;
      consensus: 'towerbft' | 'alpenglow' | 'unknown';
    };
  } | null;
  backing: {
    /** unknown: a figure is missing, or is stale and does not show a shortage */ state: 'covered' | 'short' | 'unknown' | 'no_token';
    /** Confirmed sats in the reserve */ reserveSatoshis: string | null;
    /** Whole ABSR, finalized; a fraction is treated as a whole one */ supplySatoshis: string | null;
    /** Atoms of ABSR, finalized */ supplyAtoms: string | null;
    /** Reserve minus supply; null when unknown */ gapSatoshis: string | null;
    /** Sats per ABSR, rounded down; null without tokens */ ratio: number | null;
    /** When the older of both figures was read */ as_of: string | null;
    /** True when a source is unavailable and an older figure is shown */ stale: boolean;
    /** True only while every token is known to be covered by a sat */ ok: boolean;
  };
  /** The active alarms of the last minute; null when unread */ alarms: Array<string> | null;
  database: {
    /** Fingerprint of its columns */ schema: string;
  } | null;
  /** Newest first; null when they cannot be read */ operations: Array<{
    kind: string;
    status: 'waiting' | 'finished' | 'failed';
    detail: string;
    reason: string | null;
    /** Solana signature once it is signed */ signature: string | null;
    /** Lamports that the operation moves, without network fees and rent */ amountLamports: string | null;
    createdAt: string;
    updatedAt: string;
  }> | null;
  as_of: string;
  stale: boolean;
};

export type Reserves = {
  bitcoin: {
    address: string | null;
    /** Confirmed BTC */ balanceBtc: number | null;
    /** Confirmed sats */ balanceSat: number | null;
    /** Confirmed sats as a string */ balanceSatoshis: string | null;
    /** Net effect of the mempool; may be negative */ pendingSatoshis: string | null;
    /** The service does not have the key; null while the custodian does not respond */ watchOnly: boolean | null;
    /** Whether all sources that responded agree; null for a single one. The lowest balance is shown. */ agreed: boolean | null;
    sources: Array<{ name: string; balanceSatoshis: string | null }>;
    /** The upstream that responded */ source: string | null;
    /** When this part was read */ as_of: string | null;
    /** True when its sources are unavailable and an older value is shown */ stale: boolean;
  };
  solana: {
    address: string | null;
    /** Finalized SOL */ balanceSol: number | null;
    /** Finalized lamports as a string */ balanceLamports: string | null;
    /** The slot of this balance */ slot: string | null;
    /** The upstream that responded */ source: string | null;
    sources?: Array<string>;
    /** Who can mint ABSR, from the chain; null while unknown */ minting: {
      /** Mint authority; null if minting is disabled for good */ authority: string | null;
      /** Keys that must sign a mint */ required: number;
      /** Addresses of these keys: the reserve and the witness */ signers: Array<string>;
    } | null;
    /** ABSR of the treasury, in atoms; null while unknown */ absr?: {
      /** In the account that gets each mint */ treasuryAtoms: string;
      supplyAtoms: string;
      decimals: number;
    } | null;
    /** When this part was read */ as_of: string | null;
    /** True when its sources are unavailable and an older value is shown */ stale: boolean;
  };
  /** When the older part was read */ as_of: string | null;
  /** True when a source is unavailable and an older value is shown */ stale: boolean;
  errors?: Array<{ part: 'bitcoin' | 'solana'; error_code: string }>;
};

export type BitcoinTransactions = {
  transactions: Array<{
    txid: string;
    /** Unix seconds, null in the mempool */ blockTime: number | null;
    blockHeight: number | null;
    /** Sats that the reserve gains; negative when it spends */ netSatoshis: string;
  }>;
  /** When the list was read */ as_of: string;
  /** True when every source is unavailable and an older list is shown */ stale: boolean;
  /** The upstream that responded */ source: string;
  /** null on the last page */ next_cursor: string | null;
};

export type SolanaTransactions = {
  transactions: Array<{
    signature: string;
    /** Unix seconds */ blockTime: number | null;
    /** The chain's error; null for a success */ err?: unknown;
    slot: string;
  }>;
  /** When the list was read */ as_of: string;
  /** True when every source is unavailable and an older list is shown */ stale: boolean;
  /** The upstream that responded */ source: string;
  /** null on the last page */ next_cursor: string | null;
};

export type Treasury = { treasury_address: string };

export type CurrentProof = Proof & { as_of: string; stale: boolean };

/** The figures in the message, parsed from it */
export type ProofFigures = {
  service: string;
  reserveSatoshis: string;
  solanaLamports: string;
  absrMint: string | null;
  absrSupplyAtoms: string | null;
  absrDecimals: number | null;
  bitcoinTipHeight: number;
  bitcoinTipHash: string;
  solanaSlot: string;
  solanaBlockhash: string;
  previousProof: string | null;
};

export type Proof = {
  /** The exact text signed by both keys */ message: string;
  /** The time in the message */ timestamp: string;
  /** The next proof names it as its predecessor */ hash: string;
  bitcoin: {
    address: string;
    signature: string;
    scheme: string;
    /** The same signature without the prefix that BIP-322 has required since 2026 */ signatureUnprefixed: string | null;
    /** Whether it was signed outside the service */ offline: boolean;
  };
  solana: { address: string; signature: string; scheme: string };
  figures: ProofFigures;
  /** Amounts that are not counted */ exclusions: Array<string>;
};

export type ProofHistory = {
  proofs: Array<{
    timestamp: string;
    /** SHA-256 of the message and both signatures */ hash: string;
    figures: ProofFigures;
    /** The exact text signed by both keys */ message: string;
    bitcoin: { address: string; signature: string };
    solana: { address: string; signature: string };
  }>;
  /** null on the last page */ next_cursor: string | null;
};

export type AbsrSummary = {
  /** The ABSR mint; null without one */ absrMint: string | null;
  /** The ASRY mint; null without one */ asryMint: string | null;
  /** USD for 1 BTC */ btcPriceUsd: number | null;
  /** USD for 1 SOL */ solPriceUsd: number | null;
  /** Venue of the price shown */ priceSource: string | null;
  /** Latest price of each venue */ priceVenues: Array<{
    name: string;
    btcPriceUsd: number;
    solPriceUsd: number;
    /** Whether another venue confirms this price within 1 % */ agreed: boolean | null;
  }>;
  /** Confirmed sats of the reserve, which are the maximum supply */ absrSupplySats: number | null;
  /** The same as a string */ absrSupplySatoshis: string | null;
  /** The same in USD */ absrSupplyUsd: number | null;
  /** ABSR on the chain, finalized; null without a mint */ absrTokenSupply: number | null;
  /** The same in the token's smallest units */ absrTokenSupplyAtoms: string | null;
  absrDecimals: number | null;
  /** Sats in the reserve per ABSR, rounded down; null without a token */ ratio: number | null;
  /** Sats in excess of the supply; negative when tokens are not covered */ gapSats: number | null;
  /** The same as a string */ gapSatoshis: string | null;
  coverage: Coverage;
  /** When the price was read */ price_as_of: string | null;
  /** When the oldest part was read */ as_of: string | null;
  /** True when a source is unavailable and an older part is shown */ stale: boolean;
  errors?: Array<{ part: 'prices' | 'reserve' | 'supply'; error_code: string }>;
};

/** Comparison of the confirmed sats with the ABSR supply */
export type Coverage = {
  /** unknown: a figure is missing, or is stale and does not show a shortage */ state: 'covered' | 'short' | 'unknown' | 'no_token';
  /** Confirmed sats in the reserve */ reserveSatoshis: string | null;
  /** Whole ABSR, finalized; a fraction is treated as a whole one */ supplySatoshis: string | null;
  /** Atoms of ABSR, finalized */ supplyAtoms: string | null;
  /** Reserve minus supply; null when unknown */ gapSatoshis: string | null;
  /** Sats per ABSR, rounded down; null without tokens */ ratio: number | null;
  /** When the older of both figures was read */ as_of: string | null;
  /** True when a source is unavailable and an older figure is shown */ stale: boolean;
};

export type AbsrTransactions = {
  transactions: Array<{
    /** Solana signature */ signature: string;
    /** Bitcoin txid of the sats that a swap delivered (an issue); null for a mint */ txId: string | null;
    type: 'mint' | 'issue';
    amountSats: number;
    /** Value at the price when it was signed; null when no price was known */ amountUsd: number | null;
    /** Unix seconds */ blockTime: number | null;
    amountSatoshis: string;
  }>;
  /** null on the last page */ next_cursor: string | null;
};

export type SwapMinimum = {
  /** Smallest SOL amount whose cost stays below the limit */ minAmountSol: number;
  /** The same in lamports */ minAmountLamports: string;
  /** What sets the smallest swap: this API, the bridge's fixed cost, or a refusal of the bridge */
  minimumSource: 'contract' | 'cost' | 'bridge';
  /** Reserve SOL, finalized; null when unknown */ balanceSol: number | null;
  /** The same in lamports */ balanceLamports: string | null;
  /** Largest SOL amount that the caps allow now; 0 if swaps are not possible */ maxAmountSol: number;
  /** The same in lamports */ maxAmountLamports: string;
  available: boolean;
  /** Code of the reason why no swap can start now */ reason: string | null;
  nextAvailableAt: string | null;
  /** When the figures were read from their sources */ as_of: string;
  /** True when a source is unavailable and an older value is shown */ stale: boolean;
};

export type SwapEstimate = {
  amountSol: number;
  /** Expected sats, after the bridge's fees */ estimatedBtcSats: number;
  /** Requested amount in lamports */ amountLamports: string;
  /** The estimate as a string */ estimatedSatoshis: string;
  /** Sats guaranteed by the bridge */ minimumSatoshis: string;
  etaSeconds: number | null;
  /** Whether a create call for this amount would be accepted now */ creatable: boolean;
  /** Code that a create call would return now, if it is not creatable */ error_code?: string;
  /** Its text */ error?: string;
  /** Its next step */ action?: string;
  /** Whether the same create call can succeed later */ retryable?: boolean;
  /** Seconds to wait */ retry_after_s?: number;
  /** Its details */ details?: Record<string, unknown>;
  /** Smallest swap, as in swap/min; null if unknown */ minAmountLamports: string | null;
  /** As in swap/min; null if unknown */ minimumSource: string | null;
  /** The route of the quote */ source: string;
  /** When the figures were read from their sources */ as_of: string;
  /** True when a source is unavailable and an older value is shown */ stale: boolean;
};

export type SwapCreated = {
  initiated: boolean;
  /** Solana signature */ id: string;
  amountSol: number;
  expectedBtcSats: number;
  solanaSignature: string;
  status: 'waiting';
  statusUrl: string;
  message: string;
  /** Lamports swapped */ amountLamports: string;
  /** Sats expected */ expectedSatoshis: string;
  /** Sats guaranteed */ minimumSatoshis: string;
  route: string;
};

export type SwapCreate = {
  /** SOL, as a JSON number or decimal string. Digits after the ninth decimal are dropped; amountLamports shows the amount used. */
  amountSol: number | string;
};

export type SwapStatus = {
  id: string;
  status: 'waiting' | 'finished' | 'failed';
  amountSol: number | null;
  /** Sats received */ btcSats: number | null;
  /** Finer state: sent, landed, settling, refunded, partial, expired, held ... */ detail: string;
  reason: string | null;
  /** Lamports swapped */ amountLamports: string;
  expectedSatoshis: string | null;
  btcSatoshis: string | null;
  /** Bitcoin txid of the payout */ txId: string | null;
  /** Seconds until the next poll; null when the state is final */ nextPollSeconds: number | null;
};

export type SwapHistory = {
  transactions: Array<{
    signature: string;
    txId: string | null;
    solAmount: number;
    btcSats: number | null;
    /** Unix seconds */ blockTime: number | null;
    status: 'waiting' | 'finished' | 'failed';
    detail: string;
    amountLamports: string;
    btcSatoshis: string | null;
  }>;
  /** null on the last page */ next_cursor: string | null;
};

export type InvoiceCreated = Invoice & { message: string };

export type Refund = {
  signature: string;
  lamports: string;
  payer: string | null;
  reason: string;
  status: 'due' | 'paid';
  refund_signature: string | null;
};

export type Invoice = PaymentRequest & ({
  invoice_id: string;
  /** True while the custodian does not respond: a payment may have arrived since */ stale: boolean;
  status: 'pending' | 'completed';
  /** awaiting_payment, seen (a payment is not final or too small), paid, creating, completed, expired, refund_due */ detail: string;
  received_lamports: string;
  refunds: Array<Refund>;
  reason: string | null;
  /** Lamports by part. The rest of `fee_lamports` identifies the payment */ fee_breakdown: Record<string, string> | null;
  payment_tx_signature: string | null;
  /** A payment that a caller named in the last three minutes, not final yet */ reported_tx_signature: string | null;
  token_id: number | null;
  mint_address: string | null;
  paid_at: string | null;
  completed_at: string | null;
  name: string | null;
  symbol: string | null;
  decimals: number;
  /** Smallest units */ supply: string | null;
  /** Whole tokens */ supply_ui: string | null;
  creator_address: string | null;
  description: string;
  image: string | null;
  token_program: 'token-2022' | 'token';
  metaplex_metadata: boolean;
  revoke_mint_authority: boolean;
  revoke_freeze_authority: boolean;
  revoke_update_authority: boolean;
});

export type PaymentRequest = {
  treasury_address: string;
  /** SOL to pay: a multiple of ten lamports, which an exchange can pay. The last five digits of fee_lamports identify this request */
  fee_sol: number;
  fee_lamports: number;
  /** The same SOL as a string */ amount: string;
  currency: 'SOL';
  /** Solana Pay reference key */ reference: string;
  solana_pay_url: string;
  created_at: string;
  expires_at: string;
};

export type InvoiceCreate = {
  /** At most 32 bytes of UTF-8 */ name: string;
  /** At most 10 bytes of UTF-8 */ symbol: string;
  /** Default 9 */ decimals?: number;
  /** Smallest units, at most 18446744073709551615; default 0 */ supply?: string;
  /** At most 1000 bytes of UTF-8 */ description?: string;
  /** https URL, never fetched by the service */ image?: string | null;
  /** Wallet that receives the supply */ creator_address: string;
  revoke_freeze_authority?: boolean;
  revoke_mint_authority?: boolean;
  revoke_update_authority?: boolean;
  metaplex_metadata?: boolean;
  token_program?: 'token-2022' | 'token';
};

export type InvoiceConfirmed = {
  ok: true;
  status: 'completed';
  token_id: number;
  mint_address: string;
  message: string;
};

export type InvoiceConfirm = {
  invoice_id: string;
  /** Signature of the payment in base58 */ tx_signature: string;
};

export type TokenQuote = {
  fee_sol: number;
  /** An invoice adds less than 200,000 lamports, which identify it */ fee_lamports: number;
  /** Maximum price of an invoice for this token */ max_lamports: number;
  /** Maximum price of listing a token created elsewhere */ listing_max_lamports: number;
  /** The same SOL as a string */ amount: string;
  currency: 'SOL';
  /** Lamports by part */ fee_breakdown: Record<string, string>;
};

export type Tokens = {
  tokens: Array<Token>;
  /** null on the last page */ next_cursor: string | null;
};

export type Token = {
  id: number;
  name: string;
  symbol: string;
  decimals: number;
  /** Smallest units */ supply: string;
  /** Whole tokens */ supply_ui: string;
  mint_address: string;
  creator_address: string | null;
  token_program: 'token' | 'token-2022';
  /** Address that can mint more; null with a non-null as_of means renounced */ mint_authority: string | null;
  /** Address that can freeze token accounts; null with a non-null as_of means renounced */ freeze_authority: string | null;
  /** Address that can change name, symbol and uri; null with a non-null as_of means renounced */ update_authority: string | null;
  /** What keys or rules of the mint can do to every holder; null if it was not read */ powers: Array<
    | 'permanent_delegate' | 'default_frozen' | 'pausable' | 'freeze' | 'non_transferable' | 'transfer_hook' | 'transfer_fee'
    | 'burn_permission' | 'mint' | 'close_mint' | 'scaled_amount' | 'interest_amount' | 'confidential_transfer' | 'confidential_fee'
    | 'confidential_supply' | 'unknown'> | null;
  /** When supply, authorities and powers were read from the chain; null when they could not be read */ as_of: string | null;
  /** True when the mint could not be read now, or is gone: the facts are older */ stale: boolean;
  description: string;
  image: string | null;
  uri: string | null;
  listed_at: string | null;
  warning: 'well_known_name' | null;
  created_at: string;
};

export type TokenMetadata = { name: string; symbol: string; description: string; image?: string };

export type TokenRecord = {
  /** null for an official token */ id: number | null;
  name: string;
  symbol: string;
  decimals: number;
  /** Smallest units */ supply: string;
  /** Whole tokens */ supply_ui: string;
  mint_address: string;
  creator_address: string | null;
  token_program: 'token' | 'token-2022';
  /** Address that can mint more; null with a non-null as_of means renounced */ mint_authority: string | null;
  /** Address that can freeze token accounts; null with a non-null as_of means renounced */ freeze_authority: string | null;
  /** Address that can change name, symbol and uri; null with a non-null as_of means renounced */ update_authority: string | null;
  /** What keys or rules of the mint can do to every holder; null if it was not read */ powers: Array<
    | 'permanent_delegate' | 'default_frozen' | 'pausable' | 'freeze' | 'non_transferable' | 'transfer_hook' | 'transfer_fee'
    | 'burn_permission' | 'mint' | 'close_mint' | 'scaled_amount' | 'interest_amount' | 'confidential_transfer' | 'confidential_fee'
    | 'confidential_supply' | 'unknown'> | null;
  /** When supply, authorities and powers were read from the chain; null when they could not be read */ as_of: string | null;
  /** True when the mint could not be read now, or is gone: the facts are older */ stale: boolean;
  description: string;
  image: string | null;
  uri: string | null;
  listed_at: string | null;
  warning: 'well_known_name' | null;
  /** null for an official token */ created_at: string | null;
  /** The service's own token with this mint; null for every other token */ official: {
    asset: 'ABSR' | 'ASRY';
    /** Who can mint more, from the chain: `nobody`, `reserve` (its key alone), `two_keys` (that key and a witness together), or `other`; null when unread */
    minter: string | null;
  } | null;
};

export type TokenSearch = { tokens: Array<Token>; next_cursor: string | null };

export type Listings = {
  listings: Array<Listing>;
  /** null on the last page */ next_cursor: string | null;
};

export type Listing = {
  listing_request_id: string;
  token_id: number;
  fee_sol: number;
  fee_lamports: number;
  status: 'pending' | 'confirmed';
  /** awaiting_payment, seen (a payment is not final or too small), paid, creating, completed, expired, refund_due */ detail: string;
  received_lamports: string;
  refunds: Array<Refund>;
  payment_tx_signature: string | null;
  created_at: string;
  confirmed_at: string | null;
};

export type ListingRequested = PaymentRequest & ({
  listing_request_id: string;
  token_id: number;
  /** confirmed: already listed, with a fee of 0 */ status: 'pending' | 'confirmed';
  listing: Listing;
  message: string;
});

export type ListingRequest = {
  /** Either this or mint_address; number or string */ token_id?: number;
  mint_address?: string;
};

export type ListingConfirmed = { ok: true; listing: Listing; message: string };

export type ListingConfirm = {
  listing_request_id: string;
  /** Signature of the payment in base58 */ tx_signature: string;
};

export type ExchangeMinimum = ExchangeSource & ({
  from: string;
  to: string;
  /** In whole coins of `from`; null while the provider does not exchange the pair, or states no minimum */ minAmount: number | null;
  minAmountExact: string | null;
  /** null when there is no upper bound */ maxAmount: number | null;
  maxAmountExact: string | null;
});

export type ExchangeSource = { as_of: string; stale: boolean; source: 'changenow' };

export type ExchangeEstimate = ExchangeSource & ({
  from: string;
  to: string;
  amount: number;
  amountExact: string;
  /** In whole coins of `to`; null while the provider does not exchange the pair */ estimatedAmount: number | null;
  estimatedAmountExact: string | null;
  /** Expected duration; null when unknown */ minutes: string | null;
});

export type Exchange = {
  /** The provider’s id; poll it at /api/exchange/status/{id} */ id: string;
  /** Address to which `payinAmount` must be paid */ payinAddress: string;
  /** Memo or tag that the payment must carry; without it the payment is lost */ payinExtraId: string | null;
  payinAmount: number;
  /** payinAmount with all digits */ payinAmountExact: string;
  payinCurrency: string;
  payinNetwork: string;
  payoutCurrency: string;
  payoutAddress: string;
  /** Expected payout; the rate is not locked */ expectedAmount: number | null;
  expectedAmountExact: string | null;
  refundAddress: string | null;
  status: 'waiting';
  /** The provider’s own tracker page */ statusUrl: string;
  message: string;
};

export type ExchangeRequest = {
  /** Pay-in currency: a code that names coin and network, such as usdterc20 */ from: string;
  /** Payout currency */ to: string;
  /** Amount of `from` in whole coins; decimal places after the eighteenth are dropped */ amount: number | string;
  /** Address that receives `to` */ payoutAddress: string;
  /** Memo or tag of payoutAddress, on chains that use one */ payoutExtraId?: string;
  /** Address of `from` that receives a refund */ refundAddress?: string;
  refundExtraId?: string;
};

export type ExchangeStatus = ExchangeSource & ({
  id: string;
  /** All states except waiting and pending are final */ status: 'waiting' | 'pending' | 'finished' | 'failed' | 'refunded' | 'expired';
  /** The provider’s own state */ providerStatus: string;
  /** The provider holds the payment until a check is complete */ hold: boolean;
  from: string;
  fromNetwork: string;
  to: string;
  toNetwork: string;
  /** SOL received, or expected before that; null when the pay-in is another coin */ amountSol: number | null;
  /** Sats paid out; null before that, and when the payout is another coin */ btcSats: number | null;
  /** Received, in whole coins */ amountFrom: string | null;
  /** Paid out, in whole coins */ amountTo: string | null;
  expectedAmountFrom: string | null;
  expectedAmountTo: string | null;
  /** null while the provider has none */ payinAddress: string | null;
  payinExtraId: string | null;
  /** Pay-in transaction */ payinHash: string | null;
  /** Payout transaction */ payoutHash: string | null;
  refundHash: string | null;
  statusUrl: string;
});

export type Pageview = {
  /** Query and fragment are not stored; a path of more than 253 bytes is cut */ path: string;
  /** May be empty; stored without its query, and without its path if longer than 262 bytes */ referrer?: string;
};

export type AnalyticsStats = {
  ok: true;
  totals: {
    pageviews: number;
    /** The current UTC hour and the 23 before it */ last_24h: number;
    /** The current UTC hour and the 167 before it */ last_7d: number;
    /** Distinct visitors since 00:00 UTC, at most 1,000,000 */ visitors_24h: number;
    /** Views of crawlers; no other figure includes them */ filtered_bots: number;
  };
  /** The 100 most viewed; `other` sums paths beyond 1,000 new ones a day */ by_path: Array<{ path: string; count: number }>;
  /** The 100 hosts that sent the most views; `other` sums hosts beyond 1,000 new ones a day */
  by_referrer: Array<{ host: string; count: number }>;
  /** The last 50 views */ recent: Array<{
    t: string;
    path: string;
    referrer: string;
    /** The /24 or /48 of the visitor; null when unknown or deleted */ ip: string | null;
  }>;
  /** The last 30 UTC days, oldest first */ series: Array<{ day: string; pageviews: number; visitors: number }>;
  /** The last 48 UTC hours, oldest first */ series_hourly: Array<{ hour: string; pageviews: number }>;
  as_of: string;
};

export type AsryClaim = {
  asset: 'USDC' | 'USDT';
  /** Sender of the payment, from chain data; receives the reward */ senderPubkey: string | null;
  /** Receive fee in basis points */ feeBps: number;
  /** Receive fee, rounded up */ feeAtomic: string;
  receive: {
    /** The transaction's first signature */ depositTxSignature: string;
    /** Slot of the payment */ slot: string;
    /** Unix seconds; decides the epoch */ blockTime: number;
    /** Amount that the treasury's own account received */ creditedAtomic: string;
    /** Receive fee */ feeAtomic: string;
    /** Credited amount less the fee. The reward is computed from it */ netAtomic: string;
    epoch: number;
  };
  reward: {
    /** sent: signed, and on its way or on the chain; pending: signed within moments; owed: sent later; skipped: no reward was requested */
    status: 'sent' | 'pending' | 'skipped' | 'owed';
    /** Solana signature of the payout */ signature: string | null;
    /** ASRY of this payout */ asryAtomic: string;
    recipient: string;
    /** Total reward of the payment */ entitlementAtomic: string;
    /** Part of the reward that can still be claimed */ remainingAtomic: string;
    /** The ASRY mint */ mint: string;
    /** Reason why the payout is owed */ reason: string | null;
    /** How to get it */ how_to_get: string | null;
  };
};

export type AsryClaimRequest = {
  asset: 'USDC' | 'USDT';
  /** Signature of the payment in base58 */ depositTxSignature: string;
  /** Expected received amount in whole tokens; must equal amountAtomic if both are given; above 0 */ amount?: string;
  /** Expected received amount in atoms; above 0 */ amountAtomic?: string;
  /** Value of the reward to pay now, at least 1 %. Later calls claim the rest; the fourth pays all of it */ rewardUsd?: number | string;
  /** Validates only: the payment is not used, and no reward is paid */ skipReward?: boolean;
};

export type AsryClaimRecord = AsryClaim & ({
  payouts: Array<{
    part: number;
    status: 'sent' | 'pending' | 'owed';
    signature: string | null;
    asryAtomic: string;
    reason: string | null;
    created_at: string;
    /** When the payout became final on the chain */ paid_at: string | null;
  }>;
  claimed_at: string | null;
});

export type AsryEpochs = {
  /** The ASRY mint */ mint: string;
  current: {
    epoch: number;
    starts_at: string;
    ends_at: string;
    /** E: maximum ASRY of the epoch */ capAtomic: string;
    /** K: payments that earn half of the maximum */ depthAtomic: string;
    /** C: net payments claimed so far */ depositsAtomic: string;
    /** E * C / (C + K): ASRY earned by these payments */ entitledAtomic: string;
    /** Part of this ASRY whose payment is final on the chain */ paidAtomic: string;
    claims: number;
    /** ASRY atoms for the next payment atom, not rounded */ nextUnitAsryAtomic: string;
    /** ASRY atoms for the next dollar, before the fee */ nextDollarAsryAtomic: string;
    asryDecimals: number;
    /** Price that rewardUsd uses */ asryPriceUsd: string | null;
  } | null;
  past: Array<AsryEpoch>;
  /** What a wallet needs for a payment */ deposit: {
    /** Owner of the accounts that receive payments */ address: string | null;
    mints: { USDC: string; USDT: string };
    decimals: number;
  };
  /** ASRY that the cold account still allows; null without such an account, or if its allowance could not be read */
  allowanceAtomic: string | null;
  as_of: string;
};

export type AsryEpoch = {
  epoch: number;
  starts_at: string;
  ends_at: string;
  /** E: maximum ASRY of the epoch */ capAtomic: string;
  /** K: payments that earn half of the maximum */ depthAtomic: string;
  /** C: net payments claimed so far */ depositsAtomic: string;
  /** E * C / (C + K): ASRY earned by these payments */ entitledAtomic: string;
  /** Part of this ASRY whose payment is final on the chain */ paidAtomic: string;
  claims: number;
  /** ASRY atoms for the next payment atom, not rounded */ nextUnitAsryAtomic: string;
  /** ASRY atoms for the next dollar, before the fee */ nextDollarAsryAtomic: string;
  asryDecimals: number;
  /** Price that rewardUsd uses */ asryPriceUsd: string | null;
};

export type Pool = {
  data: {
    /** Pool account */ address?: string;
    /** Whole B for one whole A */ price?: string;
    tokenMintA?: string;
    tokenMintB?: string;
    tokenVaultA?: string;
    tokenVaultB?: string;
    /** Atoms of A in its vault */ tokenBalanceA?: string;
    /** Atoms of B in its vault */ tokenBalanceB?: string;
    /** Fee in 1e-6 of the input */ feeRate?: number;
    /** USD; absent when read from the chain */ tvlUsdc?: string | null;
    /** Volumes and fees; absent when read from the chain */ stats?: unknown;
    /** feeRate as a percentage; only when read from the chain */ swapFeePercentDisplay?: string;
    /** Present when the pool was read from the chain */ poolDataSource?: 'chain_rpc';
    /** Present when the pool API had zero for both balances and the vaults were read */ vault_balances_source?: 'chain_rpc';
  } & Record<string, unknown>;
} & Record<string, unknown>;

export type Problem = {
  error_code: ErrorCode;
  /** What happened, for display */ error: string;
  action?: ErrorAction;
  /** Same as the X-Request-Id header */ request_id: string;
  /** Whether the same request can succeed later */ retryable: boolean;
  /** Seconds to wait, same as Retry-After */ retry_after_s?: number;
  /** The details described by the code's meaning */ details?: Record<string, unknown>;
};

export type NostrFeed = NostrPage & ({ ai_only: boolean; topic_labels: Array<string> | null });

export type NostrPost = {
  id: string;
  pubkey: string;
  /** Unix seconds */ created_at: number;
  /** Plain text from an untrusted author: escape it */ content: string;
  kind: number;
  /** Values of its `l` tags, of any namespace */ labels: Array<string>;
  /** Reason to hide the note until the reader chooses to see it */ content_warning: string | null;
  /** The thread's subject (NIP-22) */ root: {
    tag: 'I' | 'E' | 'A';
    value: string;
    kind: string | null;
    /** The root as an http(s) link, if it is one */ url: string | null;
  } | null;
  /** NIP-19 link with relay hints */ nevent: string;
};

export type RelayStatus = {
  relay: string;
  /** The relay sent a complete response */ ok: boolean;
  state: 'eose' | 'closed' | 'skipped' | 'unreachable' | 'lost' | 'timeout' | 'too_large' | 'forged';
  events: number;
  /** It may have posts of one busy second that it did not send */ partial: boolean;
  /** Rejected events: forged, malformed or not matching */ rejected: number;
};

export type NostrPage = {
  ok: boolean;
  error: string | null;
  error_code?: string;
  action?: string;
  retryable?: boolean;
  request_id?: string;
  relays: Array<string>;
  posts: Array<NostrPost>;
  limit: number;
  until: number | null;
  /** Skips the remaining posts of a second with more posts than a page; next_cursor does not */ next_until: number | null;
  next_cursor: string | null;
  relay_status: Array<RelayStatus>;
  as_of: string | null;
  stale: boolean;
};

export type NostrPosts = NostrPage & ({ code: string | null; npub: string | null; pubkey: string | null });

export type OpenApiDocument = { openapi: '3.0.3' } & Record<string, unknown>;

/** Stable code of an error. Codes are never renamed; later versions may add some. */
export type ErrorCode = 
  | 'ALREADY_CLAIMED' | 'ALREADY_LISTED' | 'AMOUNT_TOO_LARGE' | 'AMOUNT_TOO_SMALL' | 'ANALYTICS_READ_FAILED' | 'ANALYTICS_WRITE_FAILED'
  | 'BODY_TOO_LARGE' | 'BRIDGE_REQUEST_INVALID' | 'CLAIMS_PAUSED' | 'CLAIM_IN_PROGRESS' | 'CONTRADICTING_OPTIONS' | 'CREATION_REFUSED'
  | 'CUSTODIAN_UNAVAILABLE' | 'DATABASE_UNAVAILABLE' | 'DEPOSIT_ALREADY_USED' | 'DEPOSIT_AMOUNT_MISMATCH' | 'DEPOSIT_BOTH_ASSETS'
  | 'DEPOSIT_FAILED' | 'DEPOSIT_HELD' | 'DEPOSIT_NOT_ELIGIBLE' | 'DEPOSIT_NOT_FINAL' | 'DEPOSIT_NOT_FOUND' | 'DEPOSIT_NO_CREDIT'
  | 'DEPOSIT_TOO_OLD' | 'DEPOSIT_TOO_SMALL' | 'DEPOSIT_WRONG_ASSET' | 'DEX_NON_JSON' | 'EXCHANGE_ADDRESS_INVALID'
  | 'EXCHANGE_AMOUNT_OUT_OF_RANGE' | 'EXCHANGE_CURRENCY_UNKNOWN' | 'EXCHANGE_OUTCOME_UNKNOWN' | 'EXCHANGE_PAIR_INACTIVE'
  | 'EXCHANGE_REFUSED' | 'IDEMPOTENCY_IN_PROGRESS' | 'IDEMPOTENCY_KEY_REUSED' | 'INSUFFICIENT_BALANCE' | 'INTERNAL'
  | 'INVALID_IDEMPOTENCY_KEY' | 'INVALID_INPUT' | 'INVALID_JSON' | 'INVALID_SIGNATURE' | 'INVALID_TOKEN_TEXT' | 'INVOICE_IN_PROGRESS'
  | 'LISTING_REFUSED' | 'METAPLEX_UNAVAILABLE' | 'METHOD_NOT_ALLOWED' | 'NOT_A_MINT' | 'NOT_CONFIGURED' | 'NOT_FOUND' | 'NO_METADATA'
  | 'OLDER_THAN_RECORDS' | 'PAYMENT_ALREADY_USED' | 'PAYMENT_FAILED' | 'PAYMENT_INCOMPLETE' | 'PAYMENT_NOT_BOUND' | 'PAYMENT_NOT_FINAL'
  | 'PRICE_DIVERGENT' | 'PRICE_UNAVAILABLE' | 'QUOTE_BUDGET_SPENT' | 'QUOTE_REFUSED' | 'RATE_LIMITED' | 'REFUND_DUE' | 'RELAYS_FAILED'
  | 'REWARD_USD_UNAVAILABLE' | 'ROUTE_NOT_FOUND' | 'SALES_PAUSED' | 'SPENDING_LIMIT_REACHED' | 'SWAPS_PAUSED' | 'SWAP_LIMIT_REACHED'
  | 'TOO_MANY_OPEN_REQUESTS' | 'UNAUTHORIZED' | 'UNSUPPORTED_CONTENT_ENCODING' | 'UNSUPPORTED_CONTENT_TYPE' | 'UPSTREAM_FAILED';

/** What to do next. */
export type ErrorAction = 
  | 'fix_request' | 'check_id' | 'retry_later' | 'retry_with_same_key' | 'retry_with_new_key' | 'top_up_wallet' | 'poll_status'
  | 'pay_missing_amount' | 'use_another_deposit' | 'none' | 'contact_operator' | 'report_request_id';

/** Input, result and error codes of each operation. */
export const OPERATIONS = {
  /** The release, and whether the custodian is still starting. */
  getHealth: get<Record<string, never>, Health, 'INTERNAL'>('/api/health'),
  /** Names each part that fails. */
  getReady: get<Record<string, never>, Ready, 'INTERNAL'>('/api/ready'),
  /** State of every part, limits, open alarms, and the last 20 operations. */
  getStatus: get<Record<string, never>, Status, 'INTERNAL'>('/api/status'),
  /** Reserve addresses and balances on both chains. */
  getReserves: get<Record<string, never>, Reserves, 'INTERNAL' | 'UPSTREAM_FAILED'>('/api/reserves'),
  /** The reserve's newest 100 Bitcoin transactions, newest first. */
  listBitcoinTransactions: get<{ limit?: number; cursor?: string }, BitcoinTransactions, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED'>('/api/transactions/bitcoin'),
  /** The reserve's newest 100 finalized Solana transactions, newest first. */
  listSolanaTransactions: get<{ limit?: number; cursor?: string }, SolanaTransactions, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED'>('/api/transactions/solana'),
  /** The Solana address that receives fees, payments for ASRY and minted ABSR. */
  getTreasury: get<Record<string, never>, Treasury, 'INTERNAL' | 'NOT_CONFIGURED'>('/api/explorer/treasury'),
  /** The newest proof, signed with both reserve keys: hourly and after each mint, or offline by the operator. */
  getProof: get<Record<string, never>, CurrentProof, 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE' | 'DATABASE_UNAVAILABLE'>('/api/proof'),
  /** Every signed proof, newest first, with the data to check it. */
  listProofs: get<{
    limit?: number;
    cursor?: string;
    before?: string;
    every?: 'hour' | 'day';
  }, ProofHistory, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'DATABASE_UNAVAILABLE'>('/api/proof/history'),
  /** Reserve sats, ABSR supply and prices. */
  getAbsrSummary: get<Record<string, never>, AbsrSummary, 'INTERNAL' | 'UPSTREAM_FAILED'>('/api/arbitrage/summary'),
  /** Mints of ABSR and swaps that delivered sats, newest first; also as CSV. */
  listAbsrTransactions: get<{ limit?: number; cursor?: string }, AbsrTransactions, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'DATABASE_UNAVAILABLE'>('/api/arbitrage/transactions'),
  /** Smallest and largest swap now. */
  getSwapMinimum: get<Record<string, never>, SwapMinimum,
    | 'AMOUNT_TOO_LARGE' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'QUOTE_REFUSED' | 'PRICE_UNAVAILABLE' | 'NOT_CONFIGURED'
    | 'CUSTODIAN_UNAVAILABLE' | 'QUOTE_BUDGET_SPENT' | 'BRIDGE_REQUEST_INVALID'>('/api/swap/min'),
  /** The sats that a swap of this amount yields, and whether a create call would accept it now. */
  getSwapEstimate: get<{ amountSol: number | string }, SwapEstimate,
    | 'INVALID_INPUT' | 'INSUFFICIENT_BALANCE' | 'AMOUNT_TOO_SMALL' | 'AMOUNT_TOO_LARGE' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED'
    | 'QUOTE_REFUSED' | 'PRICE_UNAVAILABLE' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE' | 'SWAP_LIMIT_REACHED' | 'SWAPS_PAUSED'
    | 'QUOTE_BUDGET_SPENT' | 'BRIDGE_REQUEST_INVALID'>('/api/swap/estimate'),
  /** Swaps reserve SOL to BTC; the service signs. */
  createSwap: post<SwapCreate, SwapCreated,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'INVALID_IDEMPOTENCY_KEY' | 'INSUFFICIENT_BALANCE'
    | 'AMOUNT_TOO_SMALL' | 'AMOUNT_TOO_LARGE' | 'IDEMPOTENCY_IN_PROGRESS' | 'OLDER_THAN_RECORDS' | 'BODY_TOO_LARGE'
    | 'UNSUPPORTED_CONTENT_ENCODING' | 'IDEMPOTENCY_KEY_REUSED' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'QUOTE_REFUSED'
    | 'PRICE_UNAVAILABLE' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE' | 'SWAP_LIMIT_REACHED' | 'SWAPS_PAUSED' | 'QUOTE_BUDGET_SPENT'
    | 'BRIDGE_REQUEST_INVALID'>('/api/swap/create', { once: 'id', amounts: ['amountSol'] }),
  /** The state of a swap; neither polling nor waiting causes an upstream call. */
  getSwapStatus: get<{ id: string }, SwapStatus, 'NOT_FOUND' | 'OLDER_THAN_RECORDS' | 'RATE_LIMITED' | 'INTERNAL' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE'>('/api/swap/status/{id}', { waits: true }),
  /** Every swap that landed on Solana, newest first; also as CSV. */
  listSwaps: get<{ limit?: number; cursor?: string }, SwapHistory, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'DATABASE_UNAVAILABLE'>('/api/exchanges/transactions'),
  /** Returns the amount to pay and the address. */
  createInvoice: post<InvoiceCreate, InvoiceCreated,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'INVALID_TOKEN_TEXT' | 'CONTRADICTING_OPTIONS'
    | 'METAPLEX_UNAVAILABLE' | 'CREATION_REFUSED' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_CONTENT_ENCODING' | 'RATE_LIMITED'
    | 'TOO_MANY_OPEN_REQUESTS' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE' | 'SALES_PAUSED'
    | 'SPENDING_LIMIT_REACHED'>('/api/invoices'),
  /** An invoice with its order and its state. */
  getInvoice: get<{ id: string }, Invoice, 'NOT_FOUND' | 'OLDER_THAN_RECORDS' | 'RATE_LIMITED' | 'INTERNAL' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE'>('/api/invoices/{id}', { waits: true }),
  /** Waits up to 25 seconds for the token. */
  confirmInvoice: post<InvoiceConfirm, InvoiceConfirmed,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'INVALID_SIGNATURE' | 'PAYMENT_FAILED' | 'NOT_FOUND'
    | 'PAYMENT_NOT_FINAL' | 'PAYMENT_NOT_BOUND' | 'PAYMENT_ALREADY_USED' | 'OLDER_THAN_RECORDS' | 'PAYMENT_INCOMPLETE' | 'REFUND_DUE'
    | 'INVOICE_IN_PROGRESS' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_CONTENT_ENCODING' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED'
    | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE'>('/api/invoices/confirm', { confirms: true }),
  /** The price of a new token and its parts, without an order. */
  quoteToken: get<{
    name: string;
    symbol: string;
    token_program?: 'token-2022' | 'token';
    metaplex_metadata?: 'true' | 'false';
  }, TokenQuote, 'INVALID_INPUT' | 'INVALID_TOKEN_TEXT' | 'CONTRADICTING_OPTIONS' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED'>('/api/tokens/quote'),
  /** Listed tokens, newest first. */
  listTokens: get<{ limit?: number; cursor?: string; creator?: string }, Tokens, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'DATABASE_UNAVAILABLE'>('/api/tokens'),
  /** The target of the token's on-chain uri. */
  getTokenMetadata: get<{ mint_address: string }, TokenMetadata, 'NOT_FOUND' | 'RATE_LIMITED' | 'INTERNAL' | 'DATABASE_UNAVAILABLE'>('/api/tokens/{mint_address}/metadata.json'),
  /** One token, by its id or its mint address; ABSR and ASRY by their mint addresses. */
  getToken: get<{ id: string }, TokenRecord, 'NOT_FOUND' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'DATABASE_UNAVAILABLE'>('/api/tokens/{id}'),
  /** Listed tokens by symbol, name, mint or creator. */
  searchTokens: get<{ q?: string; limit?: number; cursor?: string }, TokenSearch, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'DATABASE_UNAVAILABLE'>('/api/listings/search'),
  /** Listing records, newest first. */
  listListings: get<{ limit?: number; cursor?: string; token_id?: number }, Listings, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'DATABASE_UNAVAILABLE'>('/api/listings'),
  /** Requests the listing of a token created elsewhere; returns the amount to pay and the address. */
  requestListing: post<ListingRequest, ListingRequested,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'INVALID_TOKEN_TEXT' | 'NOT_A_MINT' | 'NO_METADATA'
    | 'LISTING_REFUSED' | 'NOT_FOUND' | 'ALREADY_LISTED' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_CONTENT_ENCODING' | 'RATE_LIMITED'
    | 'TOO_MANY_OPEN_REQUESTS' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE' | 'DATABASE_UNAVAILABLE'
    | 'SALES_PAUSED'>('/api/listings/request'),
  /** Confirms the payment of a listing and waits up to 25 seconds for it. */
  confirmListing: post<ListingConfirm, ListingConfirmed,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'INVALID_SIGNATURE' | 'PAYMENT_FAILED' | 'NOT_FOUND'
    | 'PAYMENT_NOT_FINAL' | 'PAYMENT_NOT_BOUND' | 'PAYMENT_ALREADY_USED' | 'OLDER_THAN_RECORDS' | 'PAYMENT_INCOMPLETE' | 'REFUND_DUE'
    | 'INVOICE_IN_PROGRESS' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_CONTENT_ENCODING' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED'
    | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE'>('/api/listings/confirm', { confirms: true }),
  /** Smallest and largest amount of a currency pair. */
  getExchangeMinimum: get<{ from: string; to: string }, ExchangeMinimum,
    | 'INVALID_INPUT' | 'EXCHANGE_CURRENCY_UNKNOWN' | 'EXCHANGE_REFUSED' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED'
    | 'NOT_CONFIGURED'>('/api/exchange/min'),
  /** Expected output for an amount, after fees; the rate is not locked. */
  getExchangeEstimate: get<{ from: string; to: string; amount: number | string }, ExchangeEstimate,
    | 'INVALID_INPUT' | 'EXCHANGE_CURRENCY_UNKNOWN' | 'EXCHANGE_REFUSED' | 'EXCHANGE_AMOUNT_OUT_OF_RANGE' | 'RATE_LIMITED' | 'INTERNAL'
    | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED'>('/api/exchange/estimate'),
  /** Opens an exchange: after a payment to the returned address, the provider pays payoutAddress. */
  createExchange: post<ExchangeRequest, Exchange,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'EXCHANGE_CURRENCY_UNKNOWN' | 'EXCHANGE_PAIR_INACTIVE'
    | 'EXCHANGE_AMOUNT_OUT_OF_RANGE' | 'EXCHANGE_ADDRESS_INVALID' | 'EXCHANGE_REFUSED' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_CONTENT_ENCODING'
    | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'EXCHANGE_OUTCOME_UNKNOWN' | 'NOT_CONFIGURED'>('/api/exchange/create'),
  /** State of an exchange. */
  getExchangeStatus: get<{ id: string }, ExchangeStatus, 'INVALID_INPUT' | 'EXCHANGE_REFUSED' | 'NOT_FOUND' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED'>('/api/exchange/status/{id}'),
  /** Logs and counts a page view, with its time and the client’s address, which is later deleted and never shown in full. */
  addPageview: post<Pageview, null,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'BODY_TOO_LARGE' | 'UNSUPPORTED_CONTENT_ENCODING' | 'RATE_LIMITED'
    | 'ANALYTICS_WRITE_FAILED' | 'INTERNAL'>('/api/analytics/pageview'),
  /** Totals, top paths and referrers, the last views, daily and hourly series. */
  getAnalyticsStats: get<Record<string, never>, AnalyticsStats, 'RATE_LIMITED' | 'ANALYTICS_READ_FAILED' | 'INTERNAL'>('/api/analytics/stats'),
  /** Rewards the sender of a USDC or USDT payment to the treasury with ASRY, once. */
  claimFromDeposit: post<AsryClaimRequest, AsryClaim,
    | 'INVALID_INPUT' | 'INVALID_JSON' | 'UNSUPPORTED_CONTENT_TYPE' | 'INVALID_IDEMPOTENCY_KEY' | 'DEPOSIT_NOT_FOUND' | 'DEPOSIT_FAILED'
    | 'DEPOSIT_NO_CREDIT' | 'DEPOSIT_WRONG_ASSET' | 'DEPOSIT_AMOUNT_MISMATCH' | 'DEPOSIT_TOO_OLD' | 'DEPOSIT_TOO_SMALL'
    | 'DEPOSIT_NOT_ELIGIBLE' | 'REWARD_USD_UNAVAILABLE' | 'DEPOSIT_NOT_FINAL' | 'OLDER_THAN_RECORDS' | 'DEPOSIT_HELD'
    | 'DEPOSIT_BOTH_ASSETS' | 'DEPOSIT_ALREADY_USED' | 'CLAIM_IN_PROGRESS' | 'ALREADY_CLAIMED' | 'BODY_TOO_LARGE'
    | 'UNSUPPORTED_CONTENT_ENCODING' | 'IDEMPOTENCY_KEY_REUSED' | 'RATE_LIMITED' | 'UPSTREAM_FAILED' | 'INTERNAL' | 'NOT_CONFIGURED'
    | 'CUSTODIAN_UNAVAILABLE' | 'CLAIMS_PAUSED'>('/api/asry/claim-from-deposit', { once: 'reward', amounts: ['rewardUsd'] }),
  /** The record of a claimed payment. */
  getAsryClaim: get<{ signature: string }, AsryClaimRecord, 'NOT_FOUND' | 'OLDER_THAN_RECORDS' | 'RATE_LIMITED' | 'INTERNAL' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE'>('/api/asry/claims/{signature}'),
  /** The current reward epoch and the past ones, newest first. */
  getAsryEpoch: get<Record<string, never>, AsryEpochs, 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED' | 'NOT_CONFIGURED' | 'CUSTODIAN_UNAVAILABLE'>('/api/asry/epoch'),
  /** A pool from the pool API or, if it lacks the pool, from the chain. */
  getPool: get<{ address: string }, Pool, 'DEX_NON_JSON' | 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'UPSTREAM_FAILED'>('/api/dex/pool/{address}'),
  /** Redirects to the pool `default` of the configuration. */
  getDefaultPool: get<Record<string, never>, Pool, 'INTERNAL' | 'NOT_CONFIGURED'>('/api/dex/pool-default'),
  /** Redirects to the pool `saeth-sausd` of the configuration. */
  getSaethSausdPool: get<Record<string, never>, Pool, 'INTERNAL' | 'NOT_CONFIGURED'>('/api/dex/pool-saeth-sausd-default'),
  /** Redirects to the pool `sausd-usdc` of the configuration. */
  getSausdUsdcPool: get<Record<string, never>, Pool, 'INTERNAL' | 'NOT_CONFIGURED'>('/api/dex/pool-sausd-usdc-default'),
  /** Comments (kind 1111) on a topic, newest first. */
  getNostrFeed: get<{
    limit?: number;
    until?: number;
    cursor?: string;
    ai_only?: '0' | '1' | 'true' | 'yes' | 'false';
    topic_labels?: string;
  }, NostrFeed, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'NOT_CONFIGURED'>('/api/nostr/feed'),
  /** Comments (kind 1111) by the server identity, newest first. */
  getNostrPosts: get<{ limit?: number; until?: number; cursor?: string }, NostrPosts, 'INVALID_INPUT' | 'RATE_LIMITED' | 'INTERNAL' | 'NOT_CONFIGURED'>('/api/nostr/posts'),
  /** This document, OpenAPI 3.0.3. */
  getOpenApiDocument: get<Record<string, never>, OpenApiDocument, 'INTERNAL'>('/api/openapi.json'),
  /** Every route on one page of text. */
  getLlmsText: get<Record<string, never>, string, 'INTERNAL'>('/llms.txt', { text: true }),
};
