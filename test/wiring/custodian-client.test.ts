import { expect, it } from 'vitest';
import { RequestView } from '../../src/custody/api.ts';
import { requestView } from '../../src/custody/payments/request-records.ts';
import { CustodianClient } from '../../src/wiring/custodian-client.ts';
import { NOW, PAID_REQUEST } from '../kit/sample-operations.ts';

const VIEW = requestView({ ...PAID_REQUEST, id: 'one', fee: '1', reference: 'reference' }, [], NOW);
/** Members that may be null; a new member must be one of them, or have a default of its own. */
const NULLABLE = Object.entries(VIEW).flatMap(([member, value]) => (value === null ? [member] : []));

/** A client of an object whose responses lack a member. */
function clientOf(missing: string): CustodianClient {
  const { [missing as keyof RequestView]: _missing, ...request } = VIEW;
  const stub = {
    findRequest: async () => request,
    openRequest: async () => ({ type: 'opened', request }),
    confirmPayment: async () => ({ type: 'confirmed', request }),
  };
  const env = { CUSTODIAN: { getByName: () => stub } } as never;
  return new CustodianClient({ env, missing: [], log: () => undefined });
}

it.each([...NULLABLE.map((member) => [member, null] as const), ['refunds', []] as const])(
  'a request of an object that does not know the member %s yet has a default for it',
  async (member, expected) => {
    const client = clientOf(member);
    const found = await client.findRequest('id');
    const opened = await client.openRequest({ kind: 'token', subject: {}, baseFeeLamports: 1n, client: 'c' });
    for (const request of [found, opened.type === 'opened' ? opened.request : null])
      expect(request).toMatchObject({ id: VIEW.id, [member]: expected });
  },
);

it('a request keeps each member that it has', () => {
  expect(RequestView.parse(VIEW)).toEqual(VIEW);
});
