import type { Failure } from '../api/call.ts';

type Kind =
  | 'no_account'
  | 'wrong_network'
  | 'expired'
  | 'declined'
  | 'too_little_sol'
  | 'too_little_token'
  | 'no_node'
  | 'failed';

const TEXTS: Readonly<Record<Kind, readonly [text: string, next: string]>> = {
  no_account: [
    'The wallet has not shared a Solana account.',
    'Open the wallet, choose a Solana account, and connect again.',
  ],
  wrong_network: [
    'The wallet is not on Solana mainnet.',
    "Switch the network in the wallet's settings, then try again. Nothing was sent.",
  ],
  expired: [
    'The network did not accept the payment.',
    'The approval took too long, or the wallet is on a different network. Nothing was sent: try again.',
  ],
  declined: ['You declined in the wallet.', 'Nothing was sent. Try again when you are ready.'],
  too_little_sol: [
    'The wallet holds too little SOL.',
    'Add SOL or choose a different wallet. Nothing was sent.',
  ],
  too_little_token: [
    'The wallet holds too little of this token.',
    'Enter a smaller amount or choose a different wallet. Nothing was sent.',
  ],
  no_node: ['No Solana node responds.', 'Check your connection and try again. Nothing was sent.'],
  failed: [
    'The wallet could not send the payment.',
    'Check in the wallet whether it was sent before you try again.',
  ],
};

/** EIP-1193's code for a request that the user rejected, which Solana wallets use as well. */
const REJECTED_CODE = 4001;
const REJECTED = /reject|declin|denied|cancel|closed/i;
const EXPIRED = /blockhash not found|block height exceeded/i;
const OTHER_NETWORK = /wrong network|different network|cluster/i;

/** Why a payment by wallet did not happen, with the next step. */
export class WalletProblem extends Error {
  override readonly name = 'WalletProblem';
  readonly kind: Kind;
  constructor(kind: Kind, detail?: string) {
    super([TEXTS[kind][0], detail].filter(Boolean).join(' '));
    this.kind = kind;
  }

  /** Wallets throw errors of their own; only the code 4001 and the message are common to them. */
  static from(cause: unknown): WalletProblem {
    if (cause instanceof WalletProblem) return cause;
    const message = cause instanceof Error ? cause.message : '';
    const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined;
    if (code === REJECTED_CODE || REJECTED.test(message)) return new WalletProblem('declined');
    if (EXPIRED.test(message)) return new WalletProblem('expired');
    if (OTHER_NETWORK.test(message)) return new WalletProblem('wrong_network');
    return new WalletProblem('failed', message.slice(0, 200));
  }

  get failure(): Failure {
    return {
      code: `WALLET_${this.kind.toUpperCase()}`,
      text: this.message,
      next: TEXTS[this.kind][1],
      retryAfterSeconds: null,
      requestId: null,
      isOutage: false,
      details: {},
    };
  }
}
