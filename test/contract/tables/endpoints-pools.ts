import { expect } from 'vitest';
import type { Body } from '../../e2e/swap-caller.ts';
import { expectError, fields, type Row, row, type Table } from '../table.ts';
import type { Contract } from '../world.ts';

const POOL = 'GET /api/dex/pool/{address}';
/** On no chain and in no list. */
const UNKNOWN_POOL = '2PcVf2tbvvigfF5QzCbvo6LJddx6agAksTwc9f8E2tus';

/** The address of a pool in the world's configuration. */
const poolOf = ({ world }: Contract, name: string): string =>
  new RegExp(`${name}=(\\w+)`).exec(String(world.bindings.POOL_ADDRESSES))?.[1] ?? '';

const redirect = (path: string, pool: string): Row =>
  row(`GET | ${path}`, async (contract) => {
    const { status, headers } = await contract.ask(`GET ${path}`);
    expect(status).toBe(307);
    expect(headers.get('location')).toMatch(new RegExp(`/api/dex/pool/${poolOf(contract, pool)}$`));
  });

export const endpointsPools: Table = {
  title: 'Endpoints > Pool proxy',
  key: [0, 1],
  rows: [
    row('GET | /api/dex/pool/{address}', async (contract) => {
      fields(POOL, 'data', {
        price: 'anything',
        tvlUsdc: 'anything',
        tokenBalanceA: 'anything',
        tokenBalanceB: 'anything',
        tokenA: 'object',
        tokenB: 'object',
        feeRate: 'number',
        stats: 'object',
      })(contract);
      expectError(await contract.ask('GET /api/dex/pool/nothing'), 400, 'INVALID_INPUT');
      const unknown = await contract.ask(`GET /api/dex/pool/${UNKNOWN_POOL}`);
      expect(unknown.status).toBe(404);

      const other = poolOf(contract, 'sausd-usdc');
      contract.world.faults.set('orca', { kind: '500' });
      // The cron reads the configured pools again.
      await contract.world.control.cron();
      const { status, body } = await contract.ask(`GET /api/dex/pool/${other}`);
      contract.world.faults.clear();
      const data = body.data as Body;
      expect([status, data.poolDataSource]).toEqual([200, 'chain_rpc']);
      expect(data.swapFeePercentDisplay).toMatch(/^[\d.]+%?$/);
      expect([data.tvlUsdc, data.stats]).toEqual([undefined, undefined]);
    }),
    redirect('/api/dex/pool-default', 'default'),
    redirect('/api/dex/pool-saeth-sausd-default', 'saeth-sausd'),
    redirect('/api/dex/pool-sausd-usdc-default', 'sausd-usdc'),
  ],
};
