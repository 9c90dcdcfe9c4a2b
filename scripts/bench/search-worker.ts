import { DurableObject } from 'cloudflare:workers';
import { createSearchStore } from '../../src/features/tokens/search-store.ts';

/** Has the name of the service's class, so that both use the same bindings. */
export class Custodian extends DurableObject {}

type From = Parameters<ReturnType<typeof createSearchStore>['search']>[1];

/** `/search` like the service, the same query as `/like`, and `/key`, the cheapest possible read. */
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const [q, limit] = [searchParams.get('q') ?? '', Number(searchParams.get('limit'))];
    if (pathname === '/search') {
      const from = JSON.parse(searchParams.get('from') ?? 'null') as From;
      const { tokens, next } = await createSearchStore(env.DB).search(q, from, limit);
      return Response.json({ ids: tokens.map(({ tokenId }) => tokenId), next });
    }
    const statement =
      pathname === '/like'
        ? env.DB.prepare(
            `SELECT token_id, journal FROM tokens WHERE listed_at IS NOT NULL AND (symbol LIKE ?1 OR name LIKE ?1
             OR mint_address LIKE ?1 OR creator_address LIKE ?1) ORDER BY token_id DESC LIMIT ?2`,
          ).bind(`%${q.toLowerCase()}%`, limit)
        : env.DB.prepare('SELECT token_id, journal FROM tokens WHERE id = ?').bind(q);
    const { results } = await statement.all<{ token_id: number; journal: string }>();
    for (const { journal } of results) JSON.parse(journal);
    return Response.json({ ids: results.map(({ token_id }) => token_id) });
  },
} satisfies ExportedHandler<{ DB: D1Database }>;
