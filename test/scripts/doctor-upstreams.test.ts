import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { checkAccounts } from '../../scripts/doctor/check-accounts.ts';
import { checkCluster } from '../../scripts/doctor/check-cluster.ts';
import { checkMintWitness } from '../../scripts/doctor/check-mint-witness.ts';
import { readConfig } from '../../src/config.ts';
import { createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import { wallet } from '../kit/addresses.ts';
import { serve } from '../kit/serve.ts';
import { nodeBody } from '../kit/solana-node.ts';
import { type MintState, mintAccount } from '../kit/token-accounts.ts';

const [RESERVE, TREASURY, ABSR, ASRY, USDC, USDT, OTHER] = [1, 2, 3, 4, 5, 6, 7].map(wallet) as [
  ...[string, string, string, string, string, string, string],
];
const BITCOIN = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const WITNESS = {
  ...{ witness: OTHER, custodian: RESERVE, mintAuthority: OTHER },
  ...{ mint: ABSR, bitcoin: BITCOIN, owner: TREASURY },
};

const GOOD: Readonly<Record<string, MintState>> = {
  [ABSR]: { decimals: 0, authority: RESERVE },
  [ASRY]: { decimals: 9 },
  [USDC]: { decimals: 6 },
  [USDT]: { decimals: 6 },
};
const state = { mints: GOOD, genesis: MAINNET, lamports: 5_000_000_000, witness: WITNESS as object };

/** A node at POST, and a witness at GET. */
const { url, stop } = await serve(async (request, response) => {
  if (request.method === 'GET') return void response.end(JSON.stringify(state.witness));
  const wallet = {
    ...mintAccount({}),
    owner: '11111111111111111111111111111111',
    lamports: state.lamports,
    data: new Uint8Array(),
  };
  const mints = Object.entries(state.mints).map(([name, mint]) => [name, mintAccount(mint)]);
  const accounts = { ...Object.fromEntries(mints), [RESERVE]: wallet, [TREASURY]: wallet };
  const chain = { newest: 1, accounts, methods: { getGenesisHash: () => state.genesis } };
  response.end(JSON.stringify(await nodeBody(await text(request), chain)));
});
afterAll(stop);

/** The names of the findings, except notes, after a change of what the fakes show or of the settings. */
async function found(shown: Partial<typeof state>, settings: Readonly<Record<string, string>> = {}) {
  Object.assign(state, { mints: GOOD, genesis: MAINNET, lamports: 5_000_000_000, witness: WITNESS }, shown);
  const config = readConfig({
    SOLANA_RPC_URL: url,
    SOLANA_READ_RPC_URL: url,
    RESERVE_SOLANA_ADDRESS: RESERVE,
    RESERVE_BTC_ADDRESS: BITCOIN,
    TREASURY_SOLANA_ADDRESS: TREASURY,
    ABSR_MINT_ADDRESS: ABSR,
    ASRY_MINT_ADDRESS: ASRY,
    DOLLAR_MINTS: `USDC=${USDC},USDT=${USDT}`,
    ...settings,
  });
  const findings = await Promise.all([
    checkCluster(config),
    checkAccounts(config, createSolanaRpc({ urls: config.SOLANA_RPC_URL, fetch }), RESERVE),
    checkMintWitness(config),
  ]);
  const problems = findings.flat().filter(({ level }) => level === 'problem');
  for (const { what, fix } of problems) expect([what, fix]).toEqual([what, expect.stringMatching(/.{15}/)]);
  return problems.map(({ name }) => name);
}

const withMint = (name: string, mint: MintState) => ({ mints: { ...GOOD, [name]: mint } });
const witnessed = () => ({ ABSR_WITNESS_URL: url, ABSR_MINT_AUTHORITY: OTHER });
const multisig = withMint(ABSR, { decimals: 0, authority: OTHER });

it('the doctor finds no problem in nodes, mints and a witness that fit the settings', async () => {
  expect(await found({})).toEqual([]);
  expect(await found(multisig, witnessed())).toEqual([]);
});

const frozen = { decimals: 0, authority: RESERVE, freezes: OTHER };
const SWAPPED = { ABSR_MINT_ADDRESS: ASRY, ASRY_MINT_ADDRESS: ABSR };
it.each<[string, Partial<typeof state>, string, Readonly<Record<string, string>>?]>([
  ['a node of another network', { genesis: OTHER }, 'rpc-other-network rpc-other-network'],
  ['ABSR with 9 decimals', withMint(ABSR, { decimals: 9, authority: RESERVE }), 'mint-decimals'],
  ['ASRY without decimals', withMint(ASRY, { decimals: 0 }), 'mint-decimals'],
  ['a foreign mint authority', withMint(ABSR, { decimals: 0, authority: OTHER }), 'absr-authority-foreign'],
  ['an ABSR that an address can freeze', withMint(ABSR, frozen), 'mint-powers'],
  ['no mint authority', withMint(ABSR, { decimals: 0 }), 'absr-authority-foreign'],
  ['mints that are swapped', {}, 'mints-swapped mint-decimals mint-decimals', SWAPPED],
  ['a mint that does not exist', {}, 'mint-wrong', { ASRY_MINT_ADDRESS: OTHER }],
  ['a treasury that is a mint', {}, 'address-not-a-wallet', { TREASURY_SOLANA_ADDRESS: ABSR }],
  ['a reserve without SOL', { lamports: 1 }, 'sol-low'],
])('the doctor finds %s on the chain', async (_what, shown, names, settings) => {
  expect((await found(shown, settings)).join(' ')).toEqual(names);
});

it.each<[string, object, string]>([
  ['that is not configured', { error: 'lacks WITNESS_PRIVATE_KEY' }, 'witness-unreachable'],
  ['that is another page', { hello: 1 }, 'witness-unreachable'],
  ['of another custodian', { ...WITNESS, custodian: OTHER }, 'witness-other'],
  ['of another mint', { ...WITNESS, mint: ASRY }, 'witness-other'],
  ['of another multisig', { ...WITNESS, mintAuthority: ASRY }, 'witness-other'],
  ['of another Bitcoin address', { ...WITNESS, bitcoin: 'bc1qother' }, 'witness-other'],
  ['of another owner', { ...WITNESS, owner: OTHER }, 'witness-other'],
  ['with the key of the reserve', { ...WITNESS, witness: RESERVE }, 'witness-same-key'],
])('the doctor finds a witness %s', async (_what, witness, name) => {
  expect(await found({ ...multisig, witness }, witnessed())).toEqual([name]);
});

it('the doctor finds a witness that does not respond', async () => {
  const settings = { ...witnessed(), ABSR_WITNESS_URL: 'http://127.0.0.1:9' };
  expect(await found(multisig, settings)).toEqual(['witness-unreachable']);
});
