import { env } from 'cloudflare:workers';
import { DECLARATIONS } from '../../src/config.ts';

// Nothing listens there, and `fetch` is cut as well: every upstream is down, and no call leaves this machine.
export const CLOSED = 'http://127.0.0.1:9';
export const CANARY = 'canary-5f1d2c7b9e';
export const SECRET_DETAIL = 'postgres://operator:hunter2@10.0.0.7/private';

/** The namespace of a custodian whose every call gives this. */
export const custodianWith = (answer: (verb: string) => unknown) =>
  ({
    getByName: () => new Proxy({}, { get: (_, verb) => async () => answer(String(verb)) }),
  }) as unknown as Env['CUSTODIAN'];

/** The answer of a custodian that is paused and has no record. @param route the caller's */
export function pausedAnswer(verb: string, route = ''): unknown {
  // A claim that exists needs no wait for the chain.
  if (verb === 'findClaim') return route === '/api/asry/claim-from-deposit' ? {} : null;
  if (verb === 'signingState') return { frozen: null, watchOnly: true };
  if (verb === 'listAsryEpochs' || verb === 'probeNodes') return [];
  const refusal = { code: 'SWAPS_PAUSED', message: 'paused' };
  if (verb === 'estimateSwap') return { type: 'unquoted', isOfCreate: true, refusal };
  if (verb === 'swapRoom')
    return { balanceLamports: 1n, maximumLamports: 0n, refusal, minimum: { type: 'unknown', refusal } };
  const refused = { type: 'refused', replayed: false, claim: null, quotesLeft: { left: 1, resetSeconds: 1 } };
  if (verb === 'confirmPayment') return { ...refused, refusal: { code: 'NOT_FOUND', message: 'unknown' } };
  return ['createSwap', 'openRequest', 'claimDeposit'].includes(verb) ? { ...refused, refusal } : null;
}

/** Every upstream address of the configuration closed; the areas that need a secret have a canary. */
export function closedEnv(): Env {
  const closed = DECLARATIONS.flatMap(([name, { default: urls }]) => {
    // A list may have a name before each URL.
    if (/_URLS?$/.test(name)) return [[name, urls?.replaceAll(/https:[^,]+/g, CLOSED) ?? CLOSED]];
    return name.endsWith('_RELAYS') ? [[name, 'ws://127.0.0.1:9']] : [];
  });
  return {
    ...env,
    ...Object.fromEntries(closed),
    CUSTODIAN: custodianWith(() => {
      throw new Error(SECRET_DETAIL);
    }),
    PUBLIC_BASE_URL: 'https://sluice.test',
    RESERVE_SOLANA_ADDRESS: 'US517G5965aydkZ46HS38QLi7UQiSojurfbQfKCELFx',
    RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    TREASURY_SOLANA_ADDRESS: '987LyAWsVmcDS4dFseDAnJkmWKsdG5eGWg3HZ4uNMJus',
    CHANGENOW_API_KEY: CANARY,
    NEAR_INTENTS_JWT: CANARY,
    OPS_SECRET: `${CANARY}${'0'.repeat(32)}`,
  };
}

/** An address that is a wallet. */
const WALLET = '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2';

/** The closed environment with every area configured, and a paused custodian. */
export const pausedEnv = (): Env => ({
  ...closedEnv(),
  CUSTODIAN: custodianWith(pausedAnswer),
  ...{
    ASRY_MINT_ADDRESS: WALLET,
    ABSR_MINT_ADDRESS: WALLET,
    SOLANA_PRIVATE_KEY: 'set',
    MINT_KEY_SEED: 'set',
  },
});
