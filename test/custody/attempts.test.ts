/** How often an operation of each kind is signed before it ends. */
import { expect } from 'vitest';
import { lamports } from '../../src/core/amount.ts';
import { upstreamFailed } from '../../src/core/errors.ts';
import { createPayoutKind } from '../../src/custody/asry/payout.ts';
import { reasonText } from '../../src/custody/kernel/reason.ts';
import { createRefundKind } from '../../src/custody/payments/refund.ts';
import { createTokenKind } from '../../src/custody/tokens/creation-operation.ts';
import { land } from '../kit/fake-chain.ts';
import { createKernel, ready } from '../kit/kernel.ts';
import { deathProof, NOW, planned, statusOf, view } from '../kit/sample-operations.ts';
import { eachRow } from '../kit/scenes.ts';

const RULES = {
  asry: createPayoutKind({} as never).rules,
  refund: createRefundKind({} as never).rules,
  token: createTokenKind({} as never).rules,
};

const isRejected = view({ status: statusOf('finalized', true) });
const VIEWS = { expires: [deathProof()], 'is rejected': [isRejected], 'is not prepared': [], lands: [] };

eachRow<[keyof typeof RULES, keyof typeof VIEWS, string, string | null, number]>(`
  asry   | is not prepared | planned | upstream_timeout | 0
  asry   | expires         | failed  | expired          | 3
  asry   | is rejected     | failed  | rejected         | 1
  asry   | lands           | done    | null             | 1
  refund | is not prepared | planned | upstream_timeout | 0
  refund | expires         | failed  | expired          | 5
  refund | is rejected     | failed  | rejected         | 5
  refund | lands           | done    | null             | 1
  token  | is not prepared | planned | upstream_timeout | 0
  token  | expires         | failed  | expired          | 20
  token  | is rejected     | failed  | rejected         | 20
  token  | lands           | done    | null             | 1
`)(
  'an operation of the kind %s: each attempt %s; final state %s (%s) after %i signatures',
  async (kind, fate, state, reason, count) => {
    const w = createKernel({
      rules: RULES[kind],
      async prepare() {
        if (fate === 'is not prepared') throw upstreamFailed('solana-rpc', 'timeout');
        return ready();
      },
    });
    if (fate === 'lands') land(w.chain);
    else w.chain.nextViews = () => VIEWS[fate];
    const id = `${kind}:one`;
    w.add(planned({ id, kind, amount: lamports(0n), dueAt: NOW }));
    for (let drive = 0; drive < 99; drive++) {
      await w.executor.drive(id);
      w.clock.now += 60_000;
    }
    const row = w.row(id);
    const signatures = w.order.filter((each) => each === 'sign').length;
    expect([row.state, reasonText(row.reason), signatures]).toEqual([state, reason, count]);
  },
);
