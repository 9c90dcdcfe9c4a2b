/**
 * Solana wallets of this browser, found by the Wallet Standard. Loaded on request only.
 * @module
 */
import {
  SolanaSignAndSendTransaction,
  type SolanaSignAndSendTransactionFeature,
  SolanaSignTransaction,
  type SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features';
import { getBase58Decoder } from '@solana/web3.js';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { WalletProblem } from './problem.ts';

const CONNECT = 'standard:connect';
const CHAIN = 'solana:mainnet';

type ConnectFeature = {
  readonly [CONNECT]: { connect(): Promise<{ readonly accounts: readonly WalletAccount[] }> };
};

/** A wallet account that the visitor has connected. */
export type Connected = { readonly wallet: Wallet; readonly account: WalletAccount };

const signsSolana = ({ features }: Wallet): boolean =>
  CONNECT in features && (SolanaSignAndSendTransaction in features || SolanaSignTransaction in features);

/** Wallets that can sign Solana transactions, as the browser's extensions have registered them. */
export const findWallets = (): readonly Wallet[] => getWallets().get().filter(signsSolana);

/** Calls back when a wallet registers late. Returns a function that ends the subscription. */
export const onWallets = (changed: () => void): (() => void) => getWallets().on('register', changed);

/** @throws WalletProblem declined, wrong_network or failed */
export async function connectWallet(wallet: Wallet): Promise<Connected> {
  // Checked by findWallets: the wallet has this feature.
  const { [CONNECT]: feature } = wallet.features as unknown as ConnectFeature;
  const { accounts } = await feature.connect().catch((cause: unknown) => {
    throw WalletProblem.from(cause);
  });
  const solana = accounts.filter(({ chains }) => chains.some((chain) => chain.startsWith('solana:')));
  const account = solana.find(({ chains }) => chains.includes(CHAIN));
  if (account === undefined) throw new WalletProblem(solana.length > 0 ? 'wrong_network' : 'no_account');
  return { wallet, account };
}

/**
 * Asks the wallet to sign and send; a wallet that only signs leaves the sending to `send`.
 * @returns the signature in base58
 * @throws WalletProblem declined or failed
 */
export async function signAndSend(
  { wallet, account }: Connected,
  transaction: Uint8Array,
  send: (signed: Uint8Array) => Promise<string>,
): Promise<string> {
  const features = wallet.features as Partial<
    SolanaSignAndSendTransactionFeature & SolanaSignTransactionFeature
  >;
  const input = { account, transaction, chain: CHAIN } as const;
  try {
    const both = features[SolanaSignAndSendTransaction];
    if (both !== undefined) {
      const [output] = await both.signAndSendTransaction(input);
      if (output === undefined) throw new WalletProblem('failed', 'The wallet returned no signature.');
      return getBase58Decoder().decode(output.signature);
    }
    const [signed] = (await features[SolanaSignTransaction]?.signTransaction(input)) ?? [];
    if (signed === undefined) throw new WalletProblem('failed', 'The wallet returned no signed transaction.');
    return await send(signed.signedTransaction);
  } catch (cause) {
    throw WalletProblem.from(cause);
  }
}
