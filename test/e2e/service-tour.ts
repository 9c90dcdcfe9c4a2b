import { setTimeout as sleep } from 'node:timers/promises';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import type { ApiDocument } from '../../scripts/documents/shared-parts.ts';
import { plantNamedMint } from '../world/named-mint.ts';
import type { World } from '../world/world.ts';
import { until } from './swap-caller.ts';

/** One call of the tour: the request and the real response. */
export interface Visit {
  readonly operationId: string;
  readonly path: string;
  readonly requestBody?: unknown;
  readonly status: number;
  readonly body: unknown;
}

type Members = Readonly<Record<string, unknown>>;
const members = (value: unknown): Members =>
  typeof value === 'object' && value !== null ? (value as Members) : {};

const CALLER = '203.0.113.7';

/** The operation that serves a path. */
export function operationAt(document: ApiDocument, method: string, path: string): string | undefined {
  const bare = path.split('?')[0] ?? '';
  const found = operationsOf(document).filter(
    (entry) =>
      entry.method.toUpperCase() === method &&
      new RegExp(`^${entry.path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(bare),
  );
  // A path without parameters takes precedence over one with parameters.
  return found.sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0]?.operation.operationId;
}

/**
 * Uses everything that the service offers once, as a customer would. It swaps, pays for a token and waits for it, claims,
 * opens an exchange, and reads everything back. Returns every call with its response; those of one flow are in order.
 */
export async function tourService(world: World, document: ApiDocument): Promise<Visit[]> {
  const visits: Visit[] = [];

  async function call(method: string, path: string, requestBody?: unknown, key?: string): Promise<Visit> {
    const response = await world.fetch(path, {
      method,
      redirect: 'manual',
      ip: CALLER,
      headers: {
        ...(requestBody === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(requestBody === undefined ? {} : { body: JSON.stringify(requestBody) }),
    });
    const text = await response.text();
    const visit: Visit = {
      operationId: operationAt(document, method, path) ?? '',
      path,
      ...(requestBody === undefined ? {} : { requestBody }),
      status: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
    };
    visits.push(visit);
    return visit;
  }
  const get = (path: string) => call('GET', path);
  const settled = (what: string, path: string, done: (body: Members) => boolean) =>
    until(what, async () => {
      const response = await world.fetch(path, { ip: CALLER });
      return response.ok && done(members(await response.json())) ? true : undefined;
    });

  /** Pays an invoice or a listing request, like a wallet that opened its link. */
  async function pay(request: Members): Promise<string> {
    const [user] = world.users;
    if (!user) throw new Error('the world has no user');
    return world.control.transfer({
      from: user,
      to: String(request.treasury_address),
      asset: 'sol',
      amount: BigInt(Number(request.fee_lamports)),
      references: [String(request.reference)],
    });
  }

  /** Posts until it succeeds, because the transaction is not final at once. Only the last response is kept. */
  const patient = (path: string, requestBody: unknown) =>
    until(`POST ${path}`, async () => {
      const visit = await call('POST', path, requestBody);
      if (visit.status === 200) return visit.body;
      visits.splice(visits.indexOf(visit), 1);
      await sleep(300);
      return undefined;
    });

  async function swap(): Promise<void> {
    await get('/api/swap/min');
    await get('/api/swap/estimate?amountSol=0.5');
    const created = await call('POST', '/api/swap/create', { amountSol: 0.5 }, 'tour-0123456789abcdef');
    const status = `/api/swap/status/${members(created.body).id}`;
    await settled('swap', status, (body) => body.status !== 'waiting');
    await get(status);
    await get('/api/exchanges/transactions');
  }

  async function token(): Promise<void> {
    await get('/api/tokens/quote?name=Moon%20Cat&symbol=MCAT');
    const invoice = members(
      (
        await call('POST', '/api/invoices', {
          name: 'Tour Guide',
          symbol: 'TOUR',
          decimals: 6,
          supply: '1000000000000',
          description: 'A token made on a tour of the service',
          creator_address: world.users[1]?.address,
          revoke_freeze_authority: true,
          revoke_mint_authority: true,
        })
      ).body,
    );
    const path = `/api/invoices/${invoice.invoice_id}`;
    const signature = await pay(invoice);
    // The confirm waits until the payment is final and the token exists.
    await patient('/api/invoices/confirm', { invoice_id: invoice.invoice_id, tx_signature: signature });
    const { body } = await get(path);
    await get('/api/tokens');
    await get(`/api/tokens/${members(body).token_id}`);
    await get(`/api/tokens/${members(body).mint_address}/metadata.json`);
    await get('/api/listings/search?q=tour');
    await get('/api/listings');
  }

  async function listing(): Promise<void> {
    const { ledger, bank } = world.solana;
    const names = { name: 'Made Elsewhere', symbol: 'ELSE', uri: 'https://example.com/else.json' };
    const { mint } = await plantNamedMint(ledger, 'token-2022', names, {
      ...{ decimals: 6, mintAuthority: bank.signer },
    });
    const { clock } = ledger;
    // The service remembers for a minute that an address is no mint, so the mint is final before the request.
    await clock.reached(clock.slot('processed') + clock.finality + 1);
    const asked = members((await call('POST', '/api/listings/request', { mint_address: mint })).body);
    const paid = await pay(asked);
    await patient('/api/listings/confirm', {
      listing_request_id: asked.listing_request_id,
      tx_signature: paid,
    });
  }

  async function claim(): Promise<void> {
    const [user] = world.users;
    if (!user) throw new Error('the world has no user');
    const deposit = await world.control.transfer({
      from: user,
      to: world.treasury,
      asset: 'usdc',
      amount: 25_000_000n,
    });
    await patient('/api/asry/claim-from-deposit', { asset: 'USDC', depositTxSignature: deposit });
    await get(`/api/asry/claims/${deposit}`);
  }

  async function exchange(): Promise<void> {
    await get('/api/exchange/min?from=sol&to=btc');
    await get('/api/exchange/estimate?from=sol&to=btc&amount=0.5');
    const opened = await call('POST', '/api/exchange/create', {
      from: 'sol',
      to: 'btc',
      amount: 0.5,
      payoutAddress: world.reserve.bitcoin,
    });
    await get(`/api/exchange/status/${members(opened.body).id}`);
  }

  async function pool(): Promise<void> {
    const response = await world.fetch('/api/dex/pool-default', { redirect: 'manual' });
    const target = response.headers.get('location');
    if (target) await get(target);
  }

  // Each waits for the chain most of its time. The reads of the token show no other one yet.
  await Promise.all([swap(), token().then(listing), claim(), exchange(), pool()]);
  await call('POST', '/api/analytics/pageview', { path: '/reserves', referrer: 'https://example.com/' });
  for (const { method, path, operation } of operationsOf(document))
    if (method === 'get' && !path.includes('{') && !seen(operation.operationId)) await get(path);
  return visits;

  function seen(operationId: string | undefined): boolean {
    return visits.some((visit) => visit.operationId === operationId);
  }
}

/** Ids, addresses and signatures in responses, which a caller could use in another request. */
export function knownTexts(visits: readonly Visit[]): string[] {
  const found = new Set<string>();
  const queryAll = (value: unknown): void => {
    if (typeof value === 'string' && /^[\w:.-]{1,100}$/.test(value)) found.add(value);
    else if (typeof value === 'number') found.add(String(value));
    else if (Array.isArray(value)) for (const member of value.slice(0, 3)) queryAll(member);
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) queryAll(member);
  };
  for (const { operationId, body } of visits) if (operationId !== 'getOpenApiDocument') queryAll(body);
  return [...found].sort().slice(0, 400);
}
