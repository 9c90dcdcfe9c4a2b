/** The results of one generated client; every client must return the same. */
export type Outcome = {
  readonly minAmountSol: number;
  readonly estimatedBtcSats: number;
  /** Of the dry run. */
  readonly creatable: boolean;
  readonly invoiceId: string;
  /** Mint addresses. */
  readonly found: readonly string[];
  /** Of an estimate above the bound. */
  readonly refusal: { readonly code: 'INSUFFICIENT_BALANCE'; readonly action: 'top_up_wallet' };
};

export type Order = { readonly name: string; readonly symbol: string; readonly creator_address: string };

export const SWAP_SOL = 0.5;
export const TOO_MUCH_SOL = 200_000;

export function refusalOf(problem: { error_code: string; action?: string }): Outcome['refusal'] {
  const { error_code: code, action } = problem;
  if (code === 'INSUFFICIENT_BALANCE' && action === 'top_up_wallet') return { code, action };
  throw new Error(`${code} ${action}`);
}

export function defined<T>(value: T | undefined, error: unknown): T {
  if (value === undefined) throw new Error(JSON.stringify(error));
  return value;
}
