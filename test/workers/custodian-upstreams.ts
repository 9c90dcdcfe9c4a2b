/** Every upstream of the custodian behind one fetch: two nodes of one chain, 1Click, three venues, two indexes. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64 } from '@scure/base';
import { answerTo } from '../bridges/signed-quote.ts';

export const RESERVE_SEED = new Uint8Array(32).fill(11);
export const RESERVE = base58.encode(ed25519.getPublicKey(RESERVE_SEED));
export const RESERVE_SECRET = base58.encode(
  Uint8Array.from([...RESERVE_SEED, ...ed25519.getPublicKey(RESERVE_SEED)]),
);
export const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
export const TXID = 'a'.repeat(64);
export const SOL = 1_000_000_000n;

type Json = Record<string, unknown>;

export type Upstreams = ReturnType<typeof createUpstreams>;

export function createUpstreams() {
  const sent = new Set<string>();
  const sends: string[] = [];
  const counts = { quotes: 0, statuses: 0, balances: 0 };
  const world = {
    sent,
    sends,
    counts,
    balance: 10n * SOL,
    /** Whether the chain shows sent transactions as final. */
    isFinal: false,
    bridgeStatus: 'PROCESSING',
    /** A response that takes precedence over all others, or undefined. */
    fault: (_url: string, _body: Json | undefined): Response | undefined => undefined,
    fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
      const url = String(input instanceof Request ? input.url : input);
      const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as Json) : undefined;
      return world.fault(url, body) ?? Response.json(answer(new URL(url), body));
    },
  };

  function answer(url: URL, body: Json | undefined): unknown {
    if (url.hostname.startsWith('rpc')) {
      return { jsonrpc: '2.0', id: 1, result: rpc(String(body?.method), body?.params as unknown[]) };
    }
    if (url.pathname === '/v0/quote') return quote(body ?? {});
    if (url.pathname === '/v0/status') return status(url.searchParams.get('depositAddress') ?? '');
    if (url.pathname === '/info') return { BTC: '80000', SOL: '100' };
    if (url.pathname.startsWith('/v2/prices/BTC')) return { data: { amount: '80000' } };
    if (url.pathname.startsWith('/v2/prices/SOL')) return { data: { amount: '100' } };
    if (url.pathname === '/0/public/Ticker') {
      return { error: [], result: { XXBTZUSD: { c: ['80000'] }, SOLUSD: { c: ['100'] } } };
    }
    if (url.pathname === `/tx/${TXID}`) return bitcoinTransaction();
    throw new Error(`nothing answers ${url}`);
  }

  const quote = (asked: Json) => {
    counts.quotes++;
    const request = {
      dry: asked.dry === true,
      originAsset: String(asked.originAsset),
      destinationAsset: String(asked.destinationAsset),
      amount: BigInt(String(asked.amount)),
      slippageBps: Number(asked.slippageTolerance),
      refundTo: String(asked.refundTo),
      recipient: String(asked.recipient),
      deadline: String(asked.deadline),
    };
    const ends = new Date(Date.now() + 86_400_000).toISOString();
    const sats = (request.amount * 125_000n) / SOL;
    return answerTo(request, base58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(counts.quotes))), {
      quote: {
        amountOut: ((sats * 995n) / 1_000n).toString(),
        minAmountOut: ((sats * 990n) / 1_000n).toString(),
        ...(request.dry ? {} : { deadline: ends, timeWhenInactive: ends }),
      },
    });
  };

  const status = (depositAddress: string) => {
    counts.statuses++;
    const asked = {
      dry: false,
      originAsset: 'a',
      destinationAsset: 'b',
      amount: SOL,
      slippageBps: 50,
      refundTo: RESERVE,
      recipient: BITCOIN,
      deadline: 'x',
    };
    return {
      status: world.bridgeStatus,
      quoteResponse: answerTo(asked, depositAddress),
      swapDetails: { destinationChainTxHashes: [{ hash: TXID }] },
    };
  };

  const bitcoinTransaction = () => ({
    txid: TXID,
    vin: [],
    vout: [{ scriptpubkey_address: BITCOIN, value: 124_375 }],
    status: {
      confirmed: true,
      block_height: 900_000,
      block_hash: 'b'.repeat(64),
      block_time: Math.floor(Date.now() / 1_000),
    },
  });

  const inContext = (value: unknown) => ({ context: { slot: 500 }, value });

  function rpc(method: string, params: unknown[]): unknown {
    switch (method) {
      case 'getBalance':
        counts.balances++;
        return inContext(Number(world.balance));
      case 'getLatestBlockhash':
        return inContext({
          blockhash: base58.encode(new Uint8Array(32).fill(200)),
          lastValidBlockHeight: 1_000,
        });
      case 'isBlockhashValid':
        return inContext(true);
      case 'getEpochInfo':
        return { absoluteSlot: 500, blockHeight: 450 };
      case 'getSignatureStatuses': {
        const [[signature = ''] = []] = params as [string[]];
        const row = { slot: 480, err: null, confirmations: null, confirmationStatus: 'finalized' };
        return inContext([world.isFinal && sent.has(signature) ? row : null]);
      }
      case 'getSignaturesForAddress':
        return [];
      case 'getFirstAvailableBlock':
        return 0;
      case 'sendTransaction': {
        const wire = base64.decode(String(params[0]));
        const signature = base58.encode(wire.slice(1, 65));
        if (!ed25519.verify(wire.slice(1, 65), wire.slice(65), base58.decode(RESERVE))) {
          throw new Error('signature verification failure');
        }
        sent.add(signature);
        sends.push(signature);
        return signature;
      }
      case 'getTransaction':
        return transactionOf(String(params[0]));
      default:
        throw new Error(`nothing answers ${method}`);
    }
  }

  const transactionOf = (signature: string) => ({
    slot: 480,
    blockTime: Math.floor(Date.now() / 1_000),
    transaction: {
      signatures: [signature],
      message: { accountKeys: [RESERVE, 'deposit'], header: { numRequiredSignatures: 1 } },
    },
    meta: {
      err: null,
      fee: 5_900,
      preBalances: [10_000_000_000, 0],
      postBalances: [8_999_994_100, 1_000_000_000],
    },
  });

  return world;
}
