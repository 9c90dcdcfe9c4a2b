import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf } from '../../scripts/documents/api-document.ts';
import { contractTables } from './contract-document.ts';
import type { Table } from './table.ts';
import { asryClaimRequest } from './tables/asry-claim-request.ts';
import * as endpoints from './tables/endpoints.ts';
import { endpointsNostr } from './tables/endpoints-nostr.ts';
import { endpointsUnnamed } from './tables/endpoints-unnamed.ts';
import { errorBody, errorCodes, errorStatuses } from './tables/errors.ts';
import { limits } from './tables/limits.ts';
import * as responses from './tables/response-fields.ts';
import { swapStates, tokenInvoiceStates } from './tables/states.ts';
import { tokenInvoice } from './tables/token-invoice.ts';
import { transactionLists } from './tables/transaction-lists.ts';
import { type Contract, openContract } from './world.ts';

/** In the order of the contract. */
const TABLES: readonly Table[] = [
  ...[responses.reserveReport, responses.ownershipProof, transactionLists, responses.absrSummary],
  ...[responses.swapMinimum, responses.swapEstimate, responses.swapCreated, responses.swapStatus],
  ...[asryClaimRequest, responses.asryClaimResponse, tokenInvoice, responses.nostrPost, errorBody],
  ...[swapStates, tokenInvoiceStates, endpoints.endpointsReserve, endpoints.endpointsSwap],
  ...[endpoints.endpointsAsry, endpoints.endpointsExchange, endpointsNostr, endpoints.endpointsPools],
  ...[endpoints.endpointsAnalytics, endpointsUnnamed, errorStatuses, errorCodes, limits],
];

describe('the contract', () => {
  it('each row of the contract has a test, and each test has a row', () => {
    const tested = TABLES.map((table) => ({ title: table.title, rows: table.rows.map(({ row }) => row) }));
    const written = contractTables().map(({ title, rows }, at) => ({
      title,
      rows: rows.map((cells) => (TABLES[at]?.key ?? [0]).map((column) => cells[column]).join(' | ')),
    }));
    expect(tested).toEqual(written);
    expect(written.flatMap(({ rows }) => rows).length).toBeGreaterThan(100);
  });
});

describe('the service', () => {
  let contract: Contract;
  beforeAll(async () => {
    contract = await openContract();
  });
  afterEach(() => contract.world.faults.clear());
  afterAll(() => contract?.stop());

  describe.each(TABLES.map((table) => [table.title, table] as const))('%s', (_title, table) => {
    it.each(table.rows.map((row) => [row.row, row] as const))(
      'the service fulfils the contract: %s',
      (_row, row) => row.check(contract),
    );
  });

  it('every GET of the OpenAPI document returns an ETag or forbids storing its response', async () => {
    const { document, pathOf, world } = contract;
    let unchanged = 0;
    for (const { method, path, operation } of operationsOf(document)) {
      if (method !== 'get' || !operation.responses[200]) continue;
      const url = pathOf(`GET ${path}`);
      const response = await world.fetch(url);
      const etag = response.headers.get('etag');
      // Earlier tests leave operations that await the operator, so the service is not ready.
      const status = path === '/api/ready' ? 503 : 200;
      const isTagged = status === 200 && 304 in operation.responses;
      expect([url, response.status, etag !== null]).toEqual([url, status, isTagged]);
      expect(response.headers.get('cache-control') === 'no-store').toBe(etag === null);
      if (etag === null) continue;
      const again = await world.fetch(url, { headers: { 'if-none-match': etag } });
      // The time of the response is part of some bodies, which then have another tag.
      expect([url, again.status]).toEqual([url, again.headers.get('etag') === etag ? 304 : 200]);
      if (again.status === 304) unchanged += 1;
      expect((await again.text()) === '').toBe(again.status === 304);
    }
    expect(unchanged).toBeGreaterThan(20);
  });
});
