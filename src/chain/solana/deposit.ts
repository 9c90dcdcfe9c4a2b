/**
 * Decides whether a transaction is a deposit of dollar tokens to the treasury, and finds its amount and sender. It
 * reads the balances that the chain stores with the transaction, never the instructions, so every form of transfer
 * gives the same result. Only the treasury's own accounts of the configured mints are read, and the sender is never
 * guessed.
 * @module
 */
import { isOnCurve } from './address.ts';
import { findAta } from './token-instructions.ts';
import { TOKEN_PROGRAM } from './token-program.ts';
import type { ChainTransaction, TokenRow } from './transaction.ts';

export type DepositAsset = 'USDC' | 'USDT';

/** A token account before or after the transaction. */
export type TokenBalanceRow = Omit<TokenRow, 'decimals'>;

/** The members of a finalized transaction that this module reads. */
export type DepositTransaction = Pick<
  ChainTransaction,
  'signature' | 'slot' | 'blockTime' | 'failed' | 'signers'
> & {
  readonly preTokens: readonly TokenBalanceRow[] | null;
  readonly postTokens: readonly TokenBalanceRow[] | null;
};

export type DepositTerms = {
  readonly treasury: string;
  readonly reserve: string;
  readonly mints: Readonly<Record<DepositAsset, string>>;
  /** The treasury's own accounts of these mints. */
  readonly accounts: Readonly<Record<DepositAsset, string>>;
  /** Wallets of exchanges: a reward sent to them would be lost. */
  readonly heldSenders: ReadonlySet<string>;
};

export type DepositVerdict =
  | {
      readonly type: 'deposit';
      readonly asset: DepositAsset;
      readonly creditedAtoms: bigint;
      readonly sender: string;
      /** Unix seconds. */
      readonly blockTime: number;
      readonly slot: bigint;
    }
  /** The transaction can never be a deposit. */
  | { readonly type: 'refused'; readonly reason: DepositRefusal }
  /** A deposit arrived, but the transaction does not show who earns the reward. The operator must decide. */
  | { readonly type: 'held'; readonly reason: DepositHold }
  /** This node's data is incomplete; another node may have more. */
  | {
      readonly type: 'unverifiable';
      readonly reason: 'no_token_balances' | 'no_block_time' | 'bad_balances';
    };

export type DepositRefusal = 'transaction_failed' | 'no_credit' | 'own_movement' | 'no_sender';

export type DepositHold =
  | 'both_assets'
  | 'treasury_account_changed'
  | 'account_owner_changed'
  | 'several_senders'
  | 'credit_exceeds_debit'
  | 'sender_not_signer'
  | 'sender_off_curve'
  | 'sender_is_exchange';

/**
 * The change of one token account. An account that the transaction creates starts empty; one that it closes
 * ends empty.
 */
type Movement = {
  readonly account: string;
  readonly mint: string;
  readonly program: string;
  readonly ownerBefore: string | undefined;
  readonly ownerAfter: string | undefined;
  readonly before: bigint;
  readonly after: bigint;
};

const ASSETS: readonly DepositAsset[] = ['USDC', 'USDT'];

/**
 * The terms for `checkDeposit`. The treasury's accounts are derived under the classic token program and never taken
 * from input.
 */
export function depositTerms(terms: Omit<DepositTerms, 'accounts'>): DepositTerms {
  const account = (asset: DepositAsset) => findAta(terms.treasury, terms.mints[asset], TOKEN_PROGRAM);
  return { ...terms, accounts: { USDC: account('USDC'), USDT: account('USDT') } };
}

export function checkDeposit(transaction: DepositTransaction, terms: DepositTerms): DepositVerdict {
  const { blockTime, slot, signers } = transaction;
  if (transaction.failed) return refused('transaction_failed');
  if (!transaction.preTokens || !transaction.postTokens) return unverifiable('no_token_balances');
  const movements = pair(transaction.preTokens, transaction.postTokens);
  if (!movements) return unverifiable('bad_balances');

  const credits = ASSETS.map((asset) => ({ asset, ...creditOf(asset, movements, terms) }));
  if (credits.some((credit) => credit.isUnexpected)) return held('treasury_account_changed');
  const credited = credits.filter((credit) => credit.atoms > 0n);
  const [credit] = credited;
  if (!credit) return refused('no_credit');

  const isOurs = (address: string) => address === terms.treasury || address === terms.reserve;
  if (signers.some(isOurs) || credits.some(({ atoms }) => atoms < 0n)) return refused('own_movement');
  if (credited.length > 1) return held('both_assets');

  const mint = terms.mints[credit.asset];
  const others = movements.filter((move) => move.mint === mint && move.account !== credit.account);
  if (others.some(changedHands)) return held('account_owner_changed');
  const debits = debitsByOwner(others);
  const [sender] = debits.keys();
  if (sender === undefined) return refused('no_sender');
  if ([...debits.keys()].some(isOurs)) return refused('own_movement');
  if (debits.size > 1) return held('several_senders');
  // The remaining credit has no sender, because it was minted in the same transaction.
  if ((debits.get(sender) ?? 0n) < credit.atoms) return held('credit_exceeds_debit');
  if (!isOnCurve(sender)) return held('sender_off_curve');
  if (!signers.includes(sender)) return held('sender_not_signer');
  if (terms.heldSenders.has(sender)) return held('sender_is_exchange');
  if (blockTime === null) return unverifiable('no_block_time');
  return { type: 'deposit', asset: credit.asset, creditedAtoms: credit.atoms, sender, blockTime, slot };
}

const refused = (reason: DepositRefusal): DepositVerdict => ({ type: 'refused', reason });
const held = (reason: DepositHold): DepositVerdict => ({ type: 'held', reason });
const unverifiable = (
  reason: Extract<DepositVerdict, { type: 'unverifiable' }>['reason'],
): DepositVerdict => ({
  type: 'unverifiable',
  reason,
});

/** Pairs each account's balances before and after; undefined if the rows cannot belong to one transaction. */
function pair(pre: readonly TokenBalanceRow[], post: readonly TokenBalanceRow[]): Movement[] | undefined {
  const before = byAccount(pre);
  const after = byAccount(post);
  if (!before || !after) return undefined;
  const movements: Movement[] = [];
  for (const account of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(account);
    const is = after.get(account);
    // An account that was closed and created again for another token is treated as two accounts.
    const same = was?.mint === is?.mint && was?.program === is?.program;
    const moves = same
      ? [movement(account, was, is)]
      : [movement(account, was), movement(account, undefined, is)];
    for (const move of moves) {
      if (move === null) return undefined;
      if (move) movements.push(move);
    }
  }
  return movements;
}

/** How one account changed. Null if a row does not name the account's owner, because the node's version is too old. */
function movement(account: string, was?: TokenBalanceRow, is?: TokenBalanceRow): Movement | null | undefined {
  const row = was ?? is;
  if (!row) return undefined;
  if (!row.program || (was && !was.owner) || (is && !is.owner)) return null;
  return {
    account,
    mint: row.mint,
    program: row.program,
    ownerBefore: was?.owner ?? undefined,
    ownerAfter: is?.owner ?? undefined,
    before: was?.atoms ?? 0n,
    after: is?.atoms ?? 0n,
  };
}

function byAccount(rows: readonly TokenBalanceRow[]): Map<string, TokenBalanceRow> | undefined {
  const map = new Map(rows.map((row) => [row.account, row]));
  const sound = map.size === rows.length && rows.every((row) => row.account !== '' && row.atoms >= 0n);
  return sound ? map : undefined;
}

function creditOf(asset: DepositAsset, movements: readonly Movement[], terms: DepositTerms) {
  const account = terms.accounts[asset];
  const move = movements.find((each) => each.account === account);
  if (!move) return { account, atoms: 0n, isUnexpected: false };
  const owners = [move.ownerBefore, move.ownerAfter].filter((owner) => owner !== undefined);
  const isUnexpected =
    move.mint !== terms.mints[asset] ||
    move.program !== TOKEN_PROGRAM ||
    owners.some((owner) => owner !== terms.treasury);
  return { account, atoms: move.after - move.before, isUnexpected };
}

/** True if an account with tokens changed its owner. This is not a transfer, so the tokens' sender is unclear. */
const changedHands = (move: Movement): boolean =>
  move.ownerBefore !== undefined &&
  move.ownerAfter !== undefined &&
  move.ownerBefore !== move.ownerAfter &&
  (move.before > 0n || move.after > 0n);

/** Owners whose total balance of the mint fell, each with the atoms that left. */
function debitsByOwner(movements: readonly Movement[]): Map<string, bigint> {
  const changes = new Map<string, bigint>();
  const add = (owner: string | undefined, atoms: bigint) => {
    if (owner !== undefined) changes.set(owner, (changes.get(owner) ?? 0n) + atoms);
  };
  for (const move of movements) {
    add(move.ownerBefore, -move.before);
    add(move.ownerAfter, move.after);
  }
  return new Map([...changes].filter(([, change]) => change < 0n).map(([owner, change]) => [owner, -change]));
}

/** When `EXCHANGE_WALLETS` was last compared with public lists. */
export const EXCHANGE_WALLETS_AS_OF = '2026-11-27';

/**
 * Hot wallets from which exchanges pay withdrawals. Each is labelled by a public explorer, in an exchange's proof of
 * reserves, or in lists of at least two independent public repositories. On the chain, the wallet is the sender of a
 * withdrawal, so the exchange would get the reward of its customer. The list is incomplete; operators can add wallets.
 */
export const EXCHANGE_WALLETS: readonly string[] = [
  // Binance
  '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  '5tzFkiKscXHK5ZXCGbXZxdw7gTjjD1mBwuoFbhUvuAi9',
  '2ojv9BAiHUrvsm9gxDe7fJSzbNZSJcxZvf8dqmWGHG8S',
  // Coinbase
  'H8sMJSCQxfKiFTCfDR3DUMLPwcRbM61LGFJ8N4dK3WjS',
  '2AQdpHJ2JpcEgPiATUXjQxA8QmafFegfQwSLWSprPicm',
  'GJRs4FwHtemZ5ZE9x3FNvJ8TMwitKTh21yxdRPqn7npE',
  'FpwQQhQQoEaVu3WU2qZMfF1hx48YyfwsLoRgXG83E99Q',
  '9obNtb5GyUegcs3a1CbBkLuc5hEWynWfJC6gjz5uWQkE',
  'D89hHJT5Aqyx1trP6EnGY9jJUB3whgnq3aUvvCqedvzf',
  // Bitfinex, from its proof of reserves
  'FxteHmLwG9nk1eL4pjNve3Eub2goGkkz6g6TbvdmW46a',
  // Kraken
  'FWznbcNXWQuHTawe9RxvQ2LdCENssh12dsznf4RiouN5',
  // OKX
  '5VCwKtCXgCJ6kit5FybXjvriW3xELsFDhYrPSqtJNmcD',
  'C68a6RCGLiPskbPYtAcsCjhG8tfTWYcoB4JjCrXFdqyo',
  'is6MTRHEgyFLNTfYcuV4QBWLjrZBfmhVNYR6ccgr8KV',
  // Bybit
  'AC5RDfQFmDS1deWZos921JfqscXdByf8BKHs5ACWjtW2',
  // MEXC
  'ASTyfSima4LLAdDgoFGkgqoKowG1LZFDr9fAQrg7iaJZ',
  '5PAhQiYdLBd6SVdjzBQDxUAEFyDdF5ExNPQfcscnPRj5',
  // Gate.io
  'u6PJ8DtQuPFnfmwHbGFULQ4u4EgjDiyYKjVEsynXq2w',
  // KuCoin
  'BmFdpraQhkiDQE6SnfG5omcA1VwzqfXrwtNYBwWTymy6',
];
