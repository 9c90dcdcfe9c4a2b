/** LI.FI's own shapes: steps, errors, statuses. Sources: docs.li.fi, lifinance/types src/{api,step,errors}.ts. */
import { type Answer, json } from './fault-gate.ts';

export const SOLANA_CHAIN_ID = 1_151_111_081_099_710;
export const BITCOIN_CHAIN_ID = 20_000_000_000_001;
export const SOL_TOKEN = '1'.repeat(32);

type Prices = { price(coin: 'SOL' | 'BTC'): string };

export const solToken = (prices: Prices) => ({
  address: SOL_TOKEN,
  chainId: SOLANA_CHAIN_ID,
  symbol: 'SOL',
  decimals: 9,
  name: 'SOL',
  coinKey: 'SOL',
  logoURI: '',
  priceUSD: prices.price('SOL'),
});

export const btcToken = (prices: Prices) => ({
  address: 'bitcoin',
  chainId: BITCOIN_CHAIN_ID,
  symbol: 'BTC',
  decimals: 8,
  name: 'Bitcoin',
  coinKey: 'BTC',
  logoURI: '',
  priceUSD: prices.price('BTC'),
});

const NAMES: Readonly<Record<string, string>> = { near: 'NearIntents', chainflip: 'Chainflip' };

/** The parameters and guarantees of a quote. */
export interface Offer {
  readonly id: string;
  readonly transactionId: string;
  readonly tool: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly networkFee: bigint;
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly slippage: number;
  readonly toAmount: bigint;
  readonly toAmountMin: bigint;
  readonly durationSeconds: number;
  /** The parts of 1Click's quote that the `near` tool shows. */
  readonly toolData?: unknown;
}

/** A `Step` of type `lifi`, as returned by `GET /v1/quote`. */
export function showStep(offer: Offer, prices: Prices, data: unknown): Record<string, unknown> {
  const [sol, btc] = [solToken(prices), btcToken(prices)];
  const toolDetails = { key: offer.tool, name: NAMES[offer.tool] ?? offer.tool, logoURI: '' };
  const action = {
    fromChainId: SOLANA_CHAIN_ID,
    toChainId: BITCOIN_CHAIN_ID,
    fromToken: sol,
    toToken: btc,
    fromAmount: `${offer.amount}`,
    fromAddress: offer.fromAddress,
    toAddress: offer.toAddress,
    slippage: offer.slippage,
  };
  const feeLine = (name: string, amount: bigint, bps: bigint) => ({
    name,
    description: name,
    percentage: `0.${bps.toString().padStart(4, '0')}`,
    token: sol,
    amount: `${amount}`,
    amountUSD: '0.1',
    included: true,
  });
  const estimate = {
    ...(offer.toolData === undefined ? {} : { toolData: offer.toolData }),
    tool: offer.tool,
    fromAmount: `${offer.amount}`,
    toAmount: `${offer.toAmount}`,
    toAmountMin: `${offer.toAmountMin}`,
    approvalAddress: '0x1231DEB6f5749EF6cE6943a275A1D3E7486F4EaE',
    executionDuration: offer.durationSeconds,
    feeCosts: [
      feeLine('LIFI Fixed Fee', offer.fee, 25n),
      // As recorded for a `near` quote from BTC to Base: three more lines, included in the amount that the bridge receives.
      ...(offer.tool === 'near'
        ? [
            feeLine('NearIntents Protocol Fee', offer.amount / 10_000n, 1n),
            feeLine('1ClickSwap API Fee', offer.amount / 10_000n, 1n),
            feeLine('NearIntents App Fee', offer.amount / 1_000n, 10n),
          ]
        : []),
    ],
    gasCosts: [
      {
        type: 'SEND',
        price: '1',
        estimate: `${offer.networkFee}`,
        limit: `${offer.networkFee}`,
        amount: `${offer.networkFee}`,
        amountUSD: '0.003741046964580262',
        token: sol,
      },
    ],
  };
  const collected = { ...action, toChainId: SOLANA_CHAIN_ID, toToken: sol };
  const bridged = { ...action, fromAmount: `${offer.amount - offer.fee}` };
  return {
    type: 'lifi',
    id: offer.id,
    tool: offer.tool,
    toolDetails,
    integrator: 'lifi-api',
    transactionId: offer.transactionId,
    action,
    estimate,
    includedSteps: [
      { id: `${offer.id}-fee`, type: 'protocol', tool: 'feeCollection', action: collected, estimate },
      { id: `${offer.id}-cross`, type: 'cross', tool: offer.tool, toolDetails, action: bridged, estimate },
    ],
    transactionRequest: { data },
  };
}

export const refusal = (status: number, code: number, message: string, errors?: unknown): Answer =>
  json(status, { message, code, ...(errors === undefined ? {} : { errors }) });

/**
 * The reasons why no tool has a route: in LI.FI's current form, or as the flat list of its older
 * documentation.
 */
export function noRoute(tools: readonly string[], code: string, isFlat: boolean): Answer {
  const toolError = (tool: string) => ({
    errorType: 'NO_QUOTE',
    code,
    tool,
    message: code === 'AMOUNT_TOO_LOW' ? 'The amount is too low' : 'No route',
    action: {},
  });
  const path = (tool: string) => `sol:SOL-${tool}-btc:BTC`;
  const errors = isFlat
    ? tools.map(toolError)
    : {
        filteredOut: [],
        failed: tools.map((tool) => ({
          overallPath: path(tool),
          subpaths: { [path(tool)]: [toolError(tool)] },
        })),
      };
  return refusal(404, 1002, 'No available quotes for the requested transfer', errors);
}
