import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64 } from '@scure/base';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { encodeBase58 } from '../../src/chain/solana/address.ts';
import { mintMessage } from '../../src/chain/solana/token-messages.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { signedTransaction } from '../../src/chain/solana/transaction.ts';
import worker, { WitnessObject } from '../../src/witness/worker.ts';
import { createBitcoinChain } from '../kit/bitcoin-chain.ts';
import { eachScene } from '../kit/scenes.ts';
import { nodeBody, type TestChain } from '../kit/solana-node.ts';
import { mintAccount } from '../kit/token-accounts.ts';
import { transport } from '../kit/transport.ts';
import { esploraAnswer } from '../world/esplora-model.ts';

vi.mock('cloudflare:workers', () => ({
  DurableObject: class {
    ctx: unknown;
    env: unknown;
    constructor(ctx: unknown, env: unknown) {
      Object.assign(this, { ctx, env });
    }
  },
}));

const publicKey = (seed: number) => ed25519.getPublicKey(new Uint8Array(32).fill(seed));
const keyPair = (seed: number) =>
  base58.encode(Uint8Array.of(...new Uint8Array(32).fill(seed), ...publicKey(seed)));
const [CUSTODIAN, WITNESS, OWNER, MINT, MULTISIG] = [1, 2, 3, 4, 5].map((seed) =>
  encodeBase58(publicKey(seed)),
) as [string, string, string, string, string];
const BITCOIN = 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu';
const SETTINGS = {
  ...{ WITNESS_PRIVATE_KEY: keyPair(2), RESERVE_SOLANA_ADDRESS: CUSTODIAN, RESERVE_BTC_ADDRESS: BITCOIN },
  ...{ TREASURY_SOLANA_ADDRESS: OWNER, ABSR_MINT_ADDRESS: MINT, ABSR_MINT_AUTHORITY: MULTISIG },
  SOLANA_RPC_URL: 'https://one.test,https://two.test,https://one.test',
  ESPLORA_API_URLS: 'https://three.test,https://four.test',
};
const TIME = Date.UTC(2_026, 0, 2);

const NODE: TestChain = {
  newest: 500,
  blockHeight: () => 400,
  accounts: { [MINT]: mintAccount({ supply: 30n, authority: MULTISIG }) },
};
const chain = createBitcoinChain({ blockMs: 600_000, timeOf: (time) => time });
chain.add({ outputs: [{ address: BITCOIN, value: 100n }], seenAt: 0, confirmedAt: 0 });
const askIndex = transport((request) => esploraAnswer(chain.viewAt(TIME), request));

/** The upstreams of a reserve of 100 sats and a supply of 30, and the witness in front of them. */
function start(settings: Partial<Record<keyof typeof SETTINGS, string>> = {}) {
  const stored = new Map<string, unknown>();
  let durable: ReadonlyMap<string, unknown> = new Map();
  const asked: string[] = [];
  vi.spyOn(Date, 'now').mockReturnValue(TIME);
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    asked.push(new URL(String(input)).hostname);
    if (init?.method !== 'POST') return askIndex(String(input), init);
    return Response.json(await nodeBody(init.body, NODE));
  });
  const storage = {
    kv: {
      get: (name: string) => stored.get(name),
      put: (name: string, row: unknown) => stored.set(name, row),
    },
    sync: async () => {
      durable = new Map(stored);
    },
  };
  const object = new WitnessObject({ storage } as never, { ...SETTINGS, ...settings });
  const env = { WITNESS: { getByName: (name: string) => (name === 'witness' ? object : undefined) } };
  const send = async (path: string, init?: RequestInit) => {
    const response = await worker.fetch(new Request(`https://witness.test${path}`, init), env as never);
    const { status, headers } = response;
    return { status, allow: headers.get('allow'), ...((await response.json()) as object) };
  };
  const cosign = (body: string) => send('/cosign', { method: 'POST', body });
  return { send, cosign, asked, object, durable: () => [...durable.values()] };
}

function requestOf(atoms: bigint) {
  const message = mintMessage(
    {
      ...{ payer: CUSTODIAN, multisig: { address: MULTISIG, witness: WITNESS }, owner: OWNER, mint: MINT },
      ...{ program: TOKEN_PROGRAM, atoms, decimals: 0 },
    },
    { blockhash: encodeBase58(new Uint8Array(32).fill(9)) },
  );
  const own = ed25519.sign(message, new Uint8Array(32).fill(1));
  const { wire } = signedTransaction(message, [own, new Uint8Array(64)]);
  return { message, id: encodeBase58(own), body: JSON.stringify({ transaction: base64.encode(wire) }) };
}

/** What is logged, one event in a line. */
const logged = () => vi.spyOn(console, 'log').mockImplementation(() => undefined).mock.calls;

afterEach(() => vi.restoreAllMocks());

describe('the Worker of the witness', () => {
  it('signs a mint that its own sources show as covered, and shows what it signed', async () => {
    const log = logged();
    const { send, cosign, asked, durable } = start();
    const { message, id, body } = requestOf(70n);
    const { status, ...response } = (await cosign(body)) as { status: number; signature?: string };
    expect(status).toBe(200);
    expect(ed25519.verify(base64.decode(response.signature ?? ''), message, publicKey(2))).toBe(true);
    expect([...new Set(asked)].toSorted()).toEqual(['four.test', 'one.test', 'three.test', 'two.test']);
    expect(asked.filter((host) => host === 'one.test')).toHaveLength(4);
    expect(log.map(([line]) => JSON.parse(line))).toEqual([
      { level: 'info', event: 'cosign_signed', refusal: null },
    ]);
    expect(durable()).toEqual([{ signature: id, atoms: '70', at: TIME, heights: expect.anything() }, true]);
    const lastSigned = { signature: id, atoms: '70', at: '2026-01-02T00:00:00.000Z' };
    expect(await send('/')).toMatchObject({ type: 'state', lastSigned });
    expect(await cosign(requestOf(1n).body)).toMatchObject({ status: 409, error_code: 'earlier_mint_open' });
  });

  it('refuses a mint of one atom more than its sources cover', async () => {
    const log = logged();
    const { send, cosign, durable } = start();
    const refused = { status: 409, error_code: 'amount_above_reserve' };
    expect(await cosign(requestOf(71n).body)).toMatchObject(refused);
    expect(log.map(([line]) => JSON.parse(line))).toEqual([
      { level: 'info', event: 'cosign_refused', refusal: 'amount_above_reserve' },
    ]);
    expect(durable()).toEqual([]);
    expect(await send('/')).toMatchObject({
      ...{ status: 200, type: 'state', witness: WITNESS, custodian: CUSTODIAN },
      ...{ mintAuthority: MULTISIG, mint: MINT, lastSigned: null },
    });
  });

  eachScene(`
    GET    /cosign |                     | 405 | method_not_allowed
    POST   /       | {}                  | 404 | not_found
    GET    /state  |                     | 404 | not_found
    POST   /cosign |                     | 400 | invalid_body
    POST   /cosign | null                | 400 | invalid_body
    POST   /cosign | "AAAA"              | 400 | invalid_body
    POST   /cosign | {"transaction":1}   | 400 | invalid_body
    POST   /cosign | {"transaction":"A"} | 409 | not_a_mint
  `)(
    'responds to %s and the body %s with status %s and %s',
    async (target = '', body, status, error_code) => {
      logged();
      const [method = '', path = ''] = target.split(/\s+/);
      const response = await start().send(path, { method, ...(body && { body }) });
      expect(response).toMatchObject({ status: Number(status), error_code });
      expect(response.allow).toBe(status === '405' ? 'POST' : null);
    },
  );

  it('reads a body of 4,096 bytes and refuses one of 4,097', async () => {
    logged();
    const { cosign } = start();
    const body = (bytes: number) => `{"transaction":"${'A'.repeat(bytes - 18)}"}`;
    expect(await cosign(body(4_096))).toMatchObject({ status: 409, error_code: 'not_a_mint' });
    const refused = {
      status: 413,
      error_code: 'body_too_large',
      error: expect.stringContaining('4096 bytes'),
    };
    expect(await cosign(body(4_097))).toMatchObject(refused);
  });

  it('the witness reports a failure without a signature when its storage fails', async () => {
    const log = logged();
    const { cosign, object } = start();
    vi.spyOn(object, 'cosign').mockRejectedValue(new Error('x'.repeat(300)));
    expect(await cosign(requestOf(1n).body)).toMatchObject({ status: 503, error_code: 'witness_failed' });
    expect(log.map(([line]) => JSON.parse(line))).toEqual([
      { level: 'error', event: 'cosign_failed', error: `Error: ${'x'.repeat(193)}` },
    ]);
  });
});

describe('the settings of the witness', () => {
  eachScene(`
    WITNESS_PRIVATE_KEY      | nonsense                              | WITNESS_PRIVATE_KEY
    WITNESS_PRIVATE_KEY      | ${keyPair(1)} | WITNESS_PRIVATE_KEY, RESERVE_SOLANA_ADDRESS
    RESERVE_SOLANA_ADDRESS   |                                       | RESERVE_SOLANA_ADDRESS
    RESERVE_BTC_ADDRESS      | ${CUSTODIAN}                          | RESERVE_BTC_ADDRESS
    RESERVE_BTC_ADDRESS      | ${SETTINGS.RESERVE_BTC_ADDRESS.toUpperCase()} | RESERVE_BTC_ADDRESS
    TREASURY_SOLANA_ADDRESS  | x                                     | TREASURY_SOLANA_ADDRESS
    ABSR_MINT_ADDRESS        | x                                     | ABSR_MINT_ADDRESS
    ABSR_MINT_AUTHORITY      |                                       | ABSR_MINT_AUTHORITY
    SOLANA_RPC_URL           | https://one.test,https://one.test/    | SOLANA_RPC_URL
    ESPLORA_API_URLS         | https://three.test                    | ESPLORA_API_URLS
  `)('the witness refuses settings with %s as "%s", and names %s', async (name = '', value, named) => {
    const { send, cosign } = start({ [name]: value });
    const error = expect.stringContaining(`: ${named}.`);
    const refused = { status: 503, error_code: 'not_configured', error };
    expect(await send('/')).toMatchObject(refused);
    expect(await cosign(requestOf(1n).body)).toMatchObject(refused);
  });
});
