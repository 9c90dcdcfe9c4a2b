/**
 * LI.FI: quotes with a transaction, and the status of a swap. Unchecked: the transaction policy decides.
 * @see https://docs.li.fi/api-reference, lifinance/types src/{api,step,errors}.ts; amounts are integer text
 * in atoms
 * @module
 */
import * as z from 'zod';
import { AppError, upstreamFailed } from '../core/errors.ts';
import { tryJson } from '../core/json.ts';
import { type Answer, ask, type Fetch, getJson, shaped } from './http.ts';

const UPSTREAM = 'lifi';
/** A quote takes as long as the slowest tool. LI.FI's own clients wait 30 to 60 s. */
const QUOTE_TIMEOUT_MS = 25_000;

export const SOLANA_CHAIN_ID = 1_151_111_081_099_710;
export const BITCOIN_CHAIN_ID = 20_000_000_000_001;
/** Native SOL. Wrapped SOL is a different token and yields a different transaction. */
export const SOL_TOKEN = '11111111111111111111111111111111';
export const BTC_TOKEN = 'bitcoin';

const atoms = z.string().regex(/^\d{1,30}$/);
const text = z.string().max(500);
const Token = z.object({ address: text, chainId: z.int(), decimals: z.int().min(0).max(30) });

const FeeCost = z.object({ name: text, token: Token, amount: atoms, included: z.boolean() });

const Quote = z.object({
  id: z.string().min(1).max(200),
  type: z.literal('lifi'),
  tool: text,
  /** 8 bytes, which the transaction contains as well. */
  transactionId: z.string().regex(/^0x[0-9a-f]{16}$/),
  executionType: text.optional(),
  action: z.object({
    fromChainId: z.int(),
    toChainId: z.int(),
    fromToken: Token,
    toToken: Token,
    fromAmount: atoms,
    fromAddress: text,
    toAddress: text,
    slippage: z.number(),
  }),
  estimate: z.object({
    tool: text,
    fromAmount: atoms,
    toAmount: atoms,
    toAmountMin: atoms,
    executionDuration: z.number().nullish(),
    feeCosts: z.array(FeeCost).max(20).optional(),
  }),
  // A list of transactions would be a bundle, of which only the first would be checked.
  transactionRequest: z.strictObject({ data: z.string().min(1).max(4_000) }),
});

const Status = z.object({
  status: text,
  substatus: text.nullish(),
  tool: text.nullish(),
  sending: z.object({ txHash: text.nullish() }).nullish(),
  receiving: z
    .object({
      chainId: z.int().nullish(),
      txHash: text.nullish(),
      amount: atoms.nullish(),
      token: Token.nullish(),
    })
    .nullish(),
});

/** A tool's own refusal. */
const ToolError = z.object({ code: z.string().max(60) });
const ToolErrors = z.array(z.unknown());
const Failure = z.object({
  code: z.int().optional(),
  errors: z
    .union([
      ToolErrors,
      z.object({ failed: z.array(z.object({ subpaths: z.record(z.string(), ToolErrors) })) }),
    ])
    .optional()
    .catch(undefined),
});

export type LifiQuote = z.infer<typeof Quote>;
export type LifiStatus = z.infer<typeof Status>;

export type LifiRequest = {
  /** Lamports. */
  readonly amount: bigint;
  readonly fromAddress: string;
  readonly toAddress: string;
  /** 50 is half a percent. */
  readonly slippageBps: number;
  readonly tools: readonly string[];
};

export type Lifi = ReturnType<typeof createLifi>;

export function createLifi(opts: { baseUrl: string; apiKey?: string | undefined; fetch: Fetch }) {
  const headers: Record<string, string> = opts.apiKey ? { 'x-lifi-api-key': opts.apiKey } : {};
  const common = { fetch: opts.fetch, upstream: UPSTREAM, headers };

  return {
    /**
     * @throws AppError UPSTREAM_FAILED; `details.reason` is `amount_too_low` or `no_route` when LI.FI has no
     * quote
     */
    async quote(request: LifiRequest): Promise<LifiQuote> {
      const query = new URLSearchParams({
        fromChain: String(SOLANA_CHAIN_ID),
        toChain: String(BITCOIN_CHAIN_ID),
        fromToken: SOL_TOKEN,
        toToken: BTC_TOKEN,
        fromAmount: request.amount.toString(),
        fromAddress: request.fromAddress,
        toAddress: request.toAddress,
        slippage: String(request.slippageBps / 10_000),
        allowBridges: request.tools.join(','),
      });
      const url = `${opts.baseUrl}/quote?${query}`;
      const answer = await ask({ ...common, url, timeoutMs: QUOTE_TIMEOUT_MS });
      if (answer.status !== 200) throw refusalOf(answer);
      return shaped(UPSTREAM, answer, Quote);
    },

    /** The status of a transaction; NOT_FOUND for an unknown one. */
    status(signature: string, tool: string): Promise<LifiStatus> {
      const query = new URLSearchParams({
        txHash: signature,
        fromChain: String(SOLANA_CHAIN_ID),
        toChain: String(BITCOIN_CHAIN_ID),
        bridge: tool,
      });
      return getJson({ ...common, url: `${opts.baseUrl}/status?${query}` }, Status);
    },
  };
}

/** By HTTP status first, since the API and LI.FI's SDK use the codes of the body differently. */
function refusalOf(answer: Answer): AppError {
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get('ratelimit-reset') ?? Number.NaN);
    return new AppError('UPSTREAM_FAILED', 'lifi: rate_limited', {
      details: { upstream: UPSTREAM, reason: 'rate_limited' },
      ...(Number.isInteger(seconds) && seconds > 0 && seconds <= 7_200 ? { retryAfterSeconds: seconds } : {}),
    });
  }
  if (answer.status !== 404) return upstreamFailed(UPSTREAM, `status_${answer.status}`);
  const codes = toolCodes(answer.text);
  // The amount is too low only if every tool reports it: another tool may accept it later.
  const isTooLow = codes.length > 0 && codes.every((code) => TOO_LOW.has(code));
  return upstreamFailed(UPSTREAM, isTooLow ? 'amount_too_low' : 'no_route');
}

const TOO_LOW: ReadonlySet<string> = new Set(['AMOUNT_TOO_LOW', 'FEES_HIGHER_THAN_AMOUNT']);

/** The codes of tool errors: a flat list in older answers, failed paths in current ones. */
function toolCodes(body: string): string[] {
  const errors = Failure.safeParse(tryJson(body)).data?.errors;
  if (!errors) return [];
  const list = Array.isArray(errors)
    ? errors
    : errors.failed.flatMap(({ subpaths }) => Object.values(subpaths).flat());
  return list.map((error) => ToolError.safeParse(error).data?.code ?? 'UNKNOWN_ERROR');
}
