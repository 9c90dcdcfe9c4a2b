/** @module-tag deep */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64 } from '@scure/base';
import { address } from '@solana/web3.js';
import { AuthorityType, getSetAuthorityInstruction } from '@solana-program/token';
import { expect, it } from 'vitest';
import { mintMessage } from '../../src/chain/solana/token-messages.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { signedTransaction } from '../../src/chain/solana/transaction.ts';
import { runScript } from '../kit/run-script.ts';
import { callRpc } from '../world/json-rpc.ts';
import { createSolanaKey } from '../world/keys.ts';
import { landTransaction, transferSol } from '../world/solana-wallet.ts';
import { createPair } from '../world/test-tokens.ts';
import { useWorld } from '../world/use-world.ts';
import { until } from './swap-caller.ts';

type Json = Record<string, unknown>;
const DAILY = '5 0 * * *';

const post = async (url: string, body: string, headers: HeadersInit = {}) => {
  const response = await fetch(url, { method: 'POST', body, headers });
  return { status: response.status, body: (await response.json()) as Json };
};

/**
 * Its mint authority needs two keys. What the witness refuses, test/witness and `npm run simulate -- --thief` show; here are the
 * real chain, a Worker that stops, and the change of both keys.
 */
const world = useWorld({ cron: false, blockMs: 0, slotMs: 20, settleDelayMs: 200, witness: true });
const witness = (path: string) => `${world.endpoints.witness}${path}`;
const request = (body: string) => post(witness('/cosign'), body);
const rpc = async <T>(method: string, ...params: unknown[]): Promise<T> =>
  (await callRpc(world.endpoints.rpc1, method, params)).result as T;
const send = (wire: string | undefined) =>
  rpc('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
const newest = { commitment: 'processed' };
const supply = async () =>
  (await rpc<{ value: { amount: string } }>('getTokenSupply', world.mints.absr, newest)).value.amount;

/** A mint as a thief of the custodian's key would ask for it. */
async function requestOf(atoms: bigint, change: Partial<Parameters<typeof mintMessage>[0]> = {}) {
  const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'confirmed',
  });
  const { multisig, reserve } = world.solana;
  if (!multisig) throw new Error('a world without a witness');
  const pair = { address: multisig.address, witness: multisig.witness.address };
  const message = mintMessage(
    {
      payer: reserve.address,
      multisig: pair,
      owner: world.treasury,
      mint: world.mints.absr,
      program: TOKEN_PROGRAM,
      atoms,
      decimals: 0,
      ...change,
    },
    { blockhash: value.blockhash },
  );
  const own = ed25519.sign(message, base58.decode(reserve.secretKey).slice(0, 32));
  const wireWith = (second: Uint8Array) => base64.encode(signedTransaction(message, [own, second]).wire);
  const body = bodyOf(wireWith(new Uint8Array(64)));
  return { wireWith, body, blockhash: value.blockhash };
}
const bodyOf = (transaction: string) => JSON.stringify({ transaction });
/** The first answer that is not about the mint before. */
const whenOpen = (next: () => Promise<{ body: string }>) =>
  until('the end of the blockhash of the mint before', async () => {
    const answer = await request((await next()).body);
    return answer.body.error_code === 'earlier_mint_open' ? undefined : answer;
  });
const isAlive = async (blockhash: string) =>
  (await rpc<{ value: boolean }>('isBlockhashValid', blockhash, newest)).value;

it('the chain refuses a mint with the key of the custodian alone', async () => {
  const { wireWith } = await requestOf(5n);
  await send(wireWith(new Uint8Array(64)));
  const alone = await requestOf(5n, { multisig: undefined });
  await send(alone.wireWith(new Uint8Array(64)));
  expect(await supply()).toBe('0');
});

it('after a restart or a repeated request, the witness does not sign until its last transaction can no longer land', async () => {
  await world.control.sendBitcoin(world.reserve.bitcoin, 10_000n);
  await world.control.mine(3);
  let first = await requestOf(1n);
  const signed = await whenOpen(async () => {
    first = await requestOf(1n);
    return first;
  });
  expect(signed.status).toBe(200);
  expect((await request(first.body)).status).toBe(409);
  await world.worker.kill();
  await world.worker.start();
  // Nobody sends the first one, so only the end of its blockhash frees the witness.
  const next = await whenOpen(() => requestOf(2n));
  expect([next.status, await isAlive(first.blockhash)]).toEqual([200, false]);
});

it('after a change of both keys the new keys mint, and the witness refuses the old key', async () => {
  const { ledger, bank, reserve, multisig } = world.solana;
  if (!multisig) throw new Error('a world without a witness');
  const [next, nextWitness] = [await createSolanaKey(), await createSolanaKey()];
  const ops = (command: string) =>
    runScript('ops', [command], { API_BASE_URL: world.url, OPS_SECRET: world.bindings.OPS_SECRET });
  expect(await ops('pause')).toMatchObject({ code: 0 });
  const pair = await createPair(ledger, bank.signer, [next.address, nextWitness.address]);
  const handOver = getSetAuthorityInstruction({
    owned: address(world.mints.absr),
    owner: address(multisig.address),
    authorityType: AuthorityType.MintTokens,
    newAuthority: address(pair),
    multiSigners: [reserve.signer, multisig.witness.signer],
  });
  await landTransaction(ledger, bank.signer, [handOver]);
  const { value: lamports } = await rpc<{ value: number }>('getBalance', reserve.address);
  await transferSol(ledger, reserve.signer, next.address, BigInt(lamports) - 5_000n);

  const before = await supply();
  await world.control.sendBitcoin(world.reserve.bitcoin, 30_000n);
  await world.control.mine(3);
  const keys = { RESERVE_SOLANA_ADDRESS: next.address, ABSR_MINT_AUTHORITY: pair };
  const bindings = { ...world.bindings, ...keys, SOLANA_PRIVATE_KEY: next.secretKey };
  await world.worker.deploy({
    bundlePath: world.worker.bundlePath,
    bindings,
    witnessBindings: { ...keys, WITNESS_PRIVATE_KEY: nextWitness.secretKey },
  });
  expect(await ops('resume')).toMatchObject({ code: 0 });
  await world.control.cron(DAILY, world.control.now() + 86_400_000);
  await until('a mint by the new pair', async () => ((await supply()) === before ? undefined : true));
  const { body } = await request((await requestOf(1n)).body);
  expect(body).toMatchObject({ error_code: 'not_a_mint' });
});
