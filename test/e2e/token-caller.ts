/** A caller of the token routes, and a wallet that has only the Solana Pay URL of a request. */
import { WAIT_MS } from '../patience.ts';
import type { SolanaKey } from '../world/keys.ts';
import { plantNamedMint } from '../world/named-mint.ts';
import type { World } from '../world/world.ts';
import { type Answer, ask, type Body, command } from './swap-caller.ts';

const LOOK_MS = 100;

/** The order of a token that its creator pays for. */
export const orderOf = (creator: string | undefined): Body => ({
  ...{ name: 'Moon Cat', symbol: 'MCAT', decimals: 6, supply: '5000000' },
  creator_address: creator,
});

export function createTokenCaller(world: World) {
  const { ledger } = world.solana;
  let asked = 0;

  const call = (path: string, body?: unknown, ip?: string): Promise<Answer> => ask(world, path, { body, ip });

  /** A network of its own for each request, since the open requests of one network are limited. */
  const freshIp = (): string => `10.${++asked % 200}.${Math.floor(asked / 200)}.1`;

  async function until<T>(read: () => Promise<T>, done: (value: T) => boolean): Promise<T> {
    for (const end = Date.now() + WAIT_MS; ; ) {
      const value = await read();
      if (done(value)) return value;
      if (Date.now() > end) {
        const said = world.worker.logs().filter((line) => /"level":"(warn|error|alarm)"/.test(line));
        throw new Error(`still ${JSON.stringify(value)}\n${said.slice(-12).join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  const user = (index = 0): SolanaKey => {
    const found = world.users[index];
    if (!found) throw new Error('no such user');
    return found;
  };

  /** The parts of a Solana Pay transfer request that a wallet reads. */
  function payRequest(text: unknown): { to: string; lamports: bigint; references: string[] } {
    const url = new URL(String(text));
    if (url.protocol !== 'solana:') throw new Error(`no Solana Pay URL: ${text}`);
    const [whole = '0', part = ''] = (url.searchParams.get('amount') ?? '').split('.');
    const lamports = BigInt(whole) * 1_000_000_000n + BigInt(part.padEnd(9, '0'));
    return { to: url.pathname, lamports, references: url.searchParams.getAll('reference') };
  }

  /** Waits until every transaction landed so far is final. */
  const finality = (): Promise<void> =>
    ledger.clock.reached(ledger.clock.slot('processed') + ledger.clock.finality + 2);

  /** A mint that this service never made. */
  async function foreignMint(kind: 'token' | 'token-2022', name: string, symbol: string): Promise<string> {
    const names = { name, symbol, uri: 'https://example.org/t.json' };
    const { signer: mintAuthority } = user();
    const { mint } = await plantNamedMint(ledger, kind, names, {
      ...{ decimals: 6, supply: 1_234_500n, mintAuthority },
    });
    await finality();
    return mint;
  }

  async function open(path: string, order: Body): Promise<Body> {
    const { status, body } = await call(path, order, freshIp());
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  }

  return {
    call,
    until,
    user,
    payRequest,
    foreignMint,
    freshIp,

    invoice: (over: Body = {}): Promise<Body> =>
      open('/api/invoices', { ...orderOf(user().address), ...over }),
    listing: (mint: string): Promise<Body> => open('/api/listings/request', { mint_address: mint }),

    /** Pays the request of the URL, without other information. */
    pay(body: Body, over: { lamports?: bigint; references?: readonly string[]; from?: SolanaKey } = {}) {
      const { to, lamports: amount, references } = { ...payRequest(body.solana_pay_url), ...over };
      return world.control.transfer({ from: over.from ?? user(), to, asset: 'sol', amount, references });
    },

    /** Confirms a payment until the response is final. */
    confirm: (body: Body, signature: string): Promise<Answer> =>
      until(
        () =>
          body.invoice_id
            ? call('/api/invoices/confirm', { invoice_id: body.invoice_id, tx_signature: signature })
            : call('/api/listings/confirm', {
                listing_request_id: body.listing_request_id,
                tx_signature: signature,
              }),
        (answer) => !/^(PAYMENT_NOT_FINAL|INVOICE_IN_PROGRESS)$/.test(String(answer.body.error_code)),
      ),

    claim: (signature: string): Promise<Answer> =>
      until(
        () => call('/api/asry/claim-from-deposit', { asset: 'USDC', depositTxSignature: signature }),
        (answer) => !/^(DEPOSIT_NOT_FINAL|CLAIM_IN_PROGRESS)$/.test(String(answer.body.error_code)),
      ),

    read: (id: unknown): Promise<Answer> => call(`/api/invoices/${id}`),

    ops: (name: string, id?: unknown): Promise<Body> =>
      command(world, id === undefined ? { name } : { name, id }),

    finality,
  };
}
