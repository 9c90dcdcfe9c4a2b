/**
 * A wallet in the page that really signs: the page finds it by the Wallet Standard, and the keys stay in this
 * process.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { Page } from 'playwright-core';
import { callRpc } from '../world/json-rpc.ts';
import { control, siteUrl } from './visit.ts';

export type Info = {
  readonly treasury: string;
  readonly mints: { readonly usdc: string };
  readonly endpoints: { readonly rpc1: string };
  readonly users: readonly { readonly address: string; readonly secretKey: string }[];
};

export type WalletOptions = {
  readonly name?: string;
  /** Chains of its account. */
  readonly chains?: readonly string[];
  /**
   * Its reaction to a payment: send it, only sign it, refuse it like a user, or never respond. It can also send it and
   * never respond, or return the signature of a payment that it never sends.
   */
  readonly behaviour?: 'send' | 'sign' | 'reject' | 'ignore' | 'send-silently' | 'keep';
  readonly user?: number;
  /** Receives each payment that reaches the chain. */
  readonly onSent?: () => void;
};

/** Signs a wire transaction whose only signer is this key. */
function sign(wire: Uint8Array, secretKey: string): Uint8Array {
  const signed = Uint8Array.from(wire);
  if (signed[0] !== 1) throw new Error('one signature was expected');
  signed.set(ed25519.sign(signed.subarray(65), base58.decode(secretKey).subarray(0, 32)), 1);
  return signed;
}

async function send(rpcUrl: string, wire: Uint8Array): Promise<void> {
  const params = [
    Buffer.from(wire).toString('base64'),
    { encoding: 'base64', preflightCommitment: 'confirmed' },
  ];
  const { error } = await callRpc(rpcUrl, 'sendTransaction', params);
  if (error) throw new Error(error.message);
}

/** Runs in the page, before its own scripts. */
const REGISTER = `(({ name, chains, behaviour, address, publicKey }) => {
  const account = {
    address, publicKey: Uint8Array.from(publicKey), chains,
    features: ['solana:signAndSendTransaction', 'solana:signTransaction'],
  };
  const refuse = () => { throw Object.assign(new Error('User rejected the request.'), { code: 4001 }); };
  const pass = async ({ transaction }) => {
    if (behaviour === 'reject') refuse();
    if (behaviour === 'ignore') await new Promise(() => {});
    const signed = Uint8Array.from(await window.testWalletSign([...transaction], behaviour));
    if (behaviour === 'send-silently') await new Promise(() => {});
    return signed;
  };
  const wallet = {
    version: '1.0.0', name, icon: 'data:image/svg+xml;base64,' + btoa('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    chains, accounts: [],
    features: {
      'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
      'standard:events': { version: '1.0.0', on: () => () => {} },
      'solana:signTransaction': {
        version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
        signTransaction: async (input) => [{ signedTransaction: await pass(input) }],
      },
      ...(behaviour === 'sign' ? {} : { 'solana:signAndSendTransaction': {
        version: '1.0.0', supportedTransactionVersions: ['legacy', 0],
        signAndSendTransaction: async (input) => [{ signature: (await pass(input)).slice(1, 65) }],
      } }),
    },
  };
  const register = ({ register }) => register(wallet);
  window.addEventListener('wallet-standard:app-ready', (event) => register(event.detail));
  window.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register }));
})`;

/** Adds a wallet of one of the world's users to a page. */
export async function addWallet(page: Page, options: WalletOptions = {}): Promise<string> {
  const { name = 'Otter Wallet', chains = ['solana:mainnet'], behaviour = 'send', user = 0 } = options;
  const { onSent = () => undefined } = options;
  const { users, endpoints } = await control<Info>('GET /info');
  const owner = users[user];
  if (owner === undefined) throw new Error(`no user ${user}`);
  await page.exposeFunction('testWalletSign', async (wire: number[], how: string) => {
    const signed = sign(Uint8Array.from(wire), owner.secretKey);
    if (how === 'send' || how === 'send-silently') {
      await send(endpoints.rpc1, signed);
      onSent();
    }
    return [...signed];
  });
  const publicKey = [...base58.decode(owner.address)];
  await page.addInitScript(
    `${REGISTER}(${JSON.stringify({ name, chains, behaviour, address: owner.address, publicKey })})`,
  );
  return owner.address;
}

/** Requests of a page to any origin but the site's own and the named nodes. */
export async function foreignBut(foreign: readonly string[]): Promise<string[]> {
  const { rpcUrls } = (await (await fetch(new URL('/verify-sources.json', siteUrl))).json()) as {
    rpcUrls: string[];
  };
  return foreign.filter((url) => !rpcUrls.some((node) => url.startsWith(node)));
}
