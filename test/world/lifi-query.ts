import { base58 } from '@scure/base';
import { scriptOf } from './bitcoin-wallet.ts';
import { BITCOIN_CHAIN_ID, SOL_TOKEN, SOLANA_CHAIN_ID } from './lifi-shapes.ts';

const TOOLS = ['near', 'chainflip'];

/** The request for a quote. */
export interface Asked {
  readonly amount: bigint;
  readonly fromAddress: string;
  readonly toAddress: string;
  readonly slippage: number;
  readonly tools: readonly string[];
}

const fails = (check: () => unknown): boolean => {
  try {
    return check() === false;
  } catch {
    return true;
  }
};

/** Checks a query as the service does; returns its error text. */
export function readQuery(query: URLSearchParams): Asked | string {
  const chain = (name: string, id: number, key: string) => [String(id), key].includes(query.get(name) ?? '');
  if (!chain('fromChain', SOLANA_CHAIN_ID, 'SOL') || !chain('toChain', BITCOIN_CHAIN_ID, 'BTC'))
    return 'Invalid chain';
  if (query.get('fromToken') !== SOL_TOKEN || query.get('toToken') !== 'bitcoin') return 'Invalid token';
  const amount = query.get('fromAmount') ?? '';
  if (!/^[1-9]\d{0,29}$/.test(amount)) return 'Invalid fromAmount';
  const [fromAddress = '', toAddress = ''] = [query.get('fromAddress') ?? '', query.get('toAddress') ?? ''];
  if (fails(() => base58.decode(fromAddress).length === 32)) return 'Invalid fromAddress';
  if (fails(() => scriptOf(toAddress))) return 'Invalid toAddress';
  const slippage = Number(query.get('slippage') ?? '0.03');
  if (!(slippage >= 0 && slippage <= 1)) return 'Invalid slippage';
  const allowed = query.getAll('allowBridges').flatMap((list) => list.split(','));
  const tools = TOOLS.filter(
    (tool) => allowed.length === 0 || allowed.includes('all') || allowed.includes(tool),
  );
  return { amount: BigInt(amount), fromAddress, toAddress, slippage, tools };
}
