/**
 * NEAR Intents 1Click for SOL to BTC, on any clock: signed quotes, one-time deposit addresses and the states of their
 * swaps. What settles a swap changes the swap's state.
 */
import { base58 } from '@scure/base';
import { isOnCurve } from '../../src/chain/solana/address.ts';
import { type Answer, json, type WorldRequest } from '../kit/transport.ts';
import type { Fault } from './fault-book.ts';
import type { QuoteKey } from './keys.ts';
import {
  answerOf,
  BTC_ASSET,
  echoOf,
  type Figures,
  type QuoteRequest,
  quoteOf,
  readQuoteRequest,
  type Swap,
  showSwap,
} from './one-click-swap.ts';

/** The platform's own fee in basis points for callers without a token, and its receiver. */
const KEYLESS_BPS = 20;
const FEE_COLLECTOR = '5880ad2b362620fadf759cbceb1cd5737ce8c6ed7fb8e9942881e6731f9247dd';
/** A deposit address stays open for this long after the deadline of the request. */
const GRACE_MS = 3 * 24 * 3600 * 1000;

export interface OneClickOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly key: QuoteKey;
  /** The accepted token, as a bearer token or an API key; absent: all callers have one. */
  readonly token?: string;
  /** The figures of a quote with this sum of fees in basis points, or the text of a refusal. */
  readonly terms: (asked: QuoteRequest, feesBps: bigint) => Figures | string;
  /** The address of the next firm quote. A known one leads to its earlier swap. */
  readonly deposit: () => string;
  /** Takes a fault of this kind for a request; absent: there are none. */
  readonly take?: (kind: string, label: string) => Fault | null;
  readonly tokens?: (now: string) => readonly object[];
  readonly onSwap?: (swap: Swap) => void;
}

/** What `wrongRecipient` and `wrongSignature` show unless they name a text. */
const WRONG = {
  recipient: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  signature: `ed25519:${base58.encode(new Uint8Array(64).fill(1))}`,
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
};

const deposits: string[] = [];
let tried = 0;
/** Deposit addresses that are the same in every run. Half of all bytes are no point of the curve, which the client refuses. */
export function depositAddress(index: number): string {
  while (deposits.length <= index) {
    const bytes = new Uint8Array(32).fill(3);
    new DataView(bytes.buffer).setUint32(0, tried++);
    const address = base58.encode(bytes);
    if (isOnCurve(address)) deposits.push(address);
  }
  return deposits[index] ?? '';
}

type AppFee = { readonly recipient: string; readonly fee: number };
const feesOf = (value: unknown): readonly AppFee[] => (Array.isArray(value) ? (value as AppFee[]) : []);
const sumOf = (fees: readonly AppFee[]): number => fees.reduce((sum, { fee }) => sum + fee, 0);
const lie = (fault: Fault | null, right: string, wrong: string): string =>
  fault === null ? right : (fault.value ?? wrong);

export function createOneClick(options: OneClickOptions) {
  const { now, key, terms } = options;
  const swaps = new Map<string, Swap>();
  let answers = 0;
  const isoTime = (ms = now()): string => new Date(ms).toISOString();

  /** A refusal in the service's shape. */
  const message = (status: number, text: string, path: string): Answer =>
    json(status, { message: text, error: TITLES[status], statusCode: status, timestamp: isoTime(), path });

  /** @param platformBps the platform's own fee */
  function quote({ body, path, label }: WorldRequest, platformBps: number): Answer {
    const asked = readQuoteRequest(body, now());
    if (typeof asked === 'string') return message(400, asked, path);
    const take = (kind: string) => options.take?.(kind, label) ?? null;
    const refused = take('refusal');
    if (refused !== null) return message(400, refused.value ?? 'No liquidity available', path);

    const raised = take('fee');
    const ownBps = platformBps + (raised === null ? 0 : (raised.by ?? 10));
    const appFees = [
      ...feesOf(asked.appFees),
      ...(ownBps === 0 ? [] : [{ recipient: FEE_COLLECTOR, fee: ownBps }]),
    ].map((fee) => (asked.dry ? fee : { ...fee, limitOrderId: null }));
    const figures = terms(asked, BigInt(sumOf(appFees)));
    if (typeof figures === 'string') return message(400, figures, path);
    const deadline = Date.parse(asked.deadline) + GRACE_MS;
    const address = asked.dry ? null : options.deposit();

    const quoteRequest: QuoteRequest = {
      ...echoOf({ ...asked, appFees }),
      recipient: lie(take('wrongRecipient'), asked.recipient, WRONG.recipient),
      refundTo: asked.refundTo,
      destinationAsset: BTC_ASSET,
      amount: (figures.amountIn + (take('wrongAmount') === null ? 0n : 1n)).toString(),
    };
    const ends = asked.dry ? null : isoTime(deadline);
    const signed = answerOf({
      quoteRequest,
      quote: quoteOf(figures, ends, address),
      timestamp: isoTime(),
      key,
      number: ++answers,
    });
    const answer = { ...signed, signature: lie(take('wrongSignature'), signed.signature, WRONG.signature) };
    if (address !== null && !swaps.has(address)) {
      const swap: Swap = {
        ...figures,
        answer,
        askedDestination: asked.destinationAsset,
        deposit: address,
        recipient: quoteRequest.recipient,
        refundTo: quoteRequest.refundTo,
        deadline,
        status: 'PENDING_DEPOSIT',
        updatedAt: answer.timestamp,
        received: 0n,
        refundHashes: [],
        paidHashes: [],
        paidSats: 0n,
        refunded: 0n,
        refundReason: null,
      };
      swaps.set(address, swap);
      options.onSwap?.(swap);
    }
    return json(201, answer);
  }

  function submit(request: WorldRequest): Answer {
    let body: { txHash?: unknown; depositAddress?: unknown };
    try {
      body = JSON.parse(request.body) as typeof body;
    } catch {
      return message(400, 'Invalid JSON body', request.path);
    }
    const swap = typeof body.depositAddress === 'string' ? swaps.get(body.depositAddress) : undefined;
    if (swap === undefined || typeof body.txHash !== 'string')
      return message(400, 'Deposit address not found', request.path);
    if (swap.status === 'PENDING_DEPOSIT') {
      swap.status = 'KNOWN_DEPOSIT_TX';
      swap.updatedAt = isoTime();
    }
    return json(200, showSwap(swap));
  }

  function status({ query, path }: WorldRequest): Answer {
    const swap = swaps.get(query.get('depositAddress') ?? '');
    return swap === undefined ? message(404, 'Deposit address not found', path) : json(200, showSwap(swap));
  }

  return {
    /** By deposit address. */
    swaps: swaps as ReadonlyMap<string, Swap>,

    handle(request: WorldRequest): Answer {
      const { label, path } = request;
      const { authorization, 'x-api-key': apiKey } = request.headers;
      if (label === 'GET /v0/tokens') return json(200, options.tokens?.(isoTime()) ?? []);
      const { token } = options;
      const isKeyless = token !== undefined && authorization === undefined && apiKey === undefined;
      const isOurs = token === undefined || authorization === `Bearer ${token}` || apiKey === token;
      if (!isKeyless && !isOurs) return message(401, 'Unauthorized', path);
      if (label === 'POST /v0/quote') return quote(request, isKeyless ? KEYLESS_BPS : 0);
      if (label === 'GET /v0/status') return status(request);
      if (label === 'POST /v0/deposit/submit') return submit(request);
      return message(404, `Cannot ${label}`, path);
    },
  };
}
