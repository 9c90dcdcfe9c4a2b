import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_MS } from '../patience.ts';
import type { World } from './world.ts';

const PAUSE_MS = 250;

type PastToken = {
  readonly name: string;
  readonly symbol: string;
  /** Whole tokens, which cannot be split. */
  readonly supply: string;
  readonly description: string;
  /** Path of its picture on the site's host. */
  readonly picture?: string;
  /** Whether its creator keeps the right to mint more. */
  readonly grows?: boolean;
};

/** Tokens that users have created, by the day of the world's past; the newest is shown first. */
export const PAST_TOKENS: Readonly<Record<number, PastToken>> = {
  1: {
    name: 'Night Bus Poems',
    symbol: 'POEM',
    supply: '365',
    description: 'A poem on each night of the year. Who holds one token chooses the next poem.',
    picture: '/pictures/poem.svg',
  },
  2: {
    name: 'Corner Bakery',
    symbol: 'LOAF',
    supply: '8000',
    description: 'Ten tokens buy a loaf on Saturdays. Regulars get one with each coffee.',
    picture: '/pictures/loaf.svg',
  },
  3: {
    name: 'Second Harvest',
    symbol: 'CROP',
    supply: '50000',
    description:
      'Points of the neighbourhood garden: one for an hour of work, and ten for a box of vegetables.',
    picture: '/pictures/crop.svg',
    grows: true,
  },
  4: {
    name: 'Harbour Regatta',
    symbol: 'SAIL',
    supply: '2400',
    description: 'A place on a boat in the summer races, which its holder may pass on.',
    picture: '/pictures/boat.svg',
  },
  5: {
    name: 'Alpine Hut Nights',
    symbol: 'HUT',
    supply: '1200',
    description: 'One token is one night in the huts of our club. The club burns it at the door.',
    picture: '/pictures/hut.svg',
  },
};

type Order = {
  readonly invoice_id: string;
  readonly status: string;
  readonly treasury_address: string;
  readonly reference: string;
  readonly fee_lamports: number;
};

/** Sends a body, again after a refusal that may be repeated: a node of a busy machine can lag for a moment. */
export async function post<T>(world: World, path: string, body: object): Promise<T> {
  for (const end = Date.now() + WAIT_MS; ; await sleep(PAUSE_MS)) {
    const response = await world.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.ok) return (await response.json()) as T;
    const refusal = (await response.json()) as { readonly retryable: boolean };
    if (!refusal.retryable || Date.now() > end) throw new Error(`${path}: ${JSON.stringify(refusal)}`);
  }
}

/** Orders a token as a user of the world, pays for it and waits until it exists. */
export async function createPastToken(
  world: World,
  { grows = false, picture, ...token }: PastToken,
): Promise<void> {
  const [creator] = world.users;
  if (creator === undefined) throw new Error('no user');
  const order = await post<Order>(world, '/api/invoices', {
    ...token,
    ...(picture === undefined ? {} : { image: `https://${new URL(world.url).host}${picture}` }),
    decimals: 0,
    creator_address: creator.address,
    revoke_mint_authority: !grows,
    revoke_freeze_authority: true,
    revoke_update_authority: !grows,
  });
  await world.control.transfer({
    from: creator,
    to: order.treasury_address,
    asset: 'sol',
    amount: BigInt(order.fee_lamports),
    references: [order.reference],
  });
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(PAUSE_MS)) {
    await world.control.cron();
    const now = (await (await world.fetch(`/api/invoices/${order.invoice_id}`)).json()) as Order;
    if (now.status === 'completed') return;
  }
  throw new Error(`no token ${token.symbol}`);
}
