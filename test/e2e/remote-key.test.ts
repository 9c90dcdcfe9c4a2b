/**
 * The reserve's key is in a Vault, not in the Worker: every kind of signature. The failures of a Vault are those of
 * test/custody/kernel/signer-remote.test.ts and of the simulation.
 *
 * @module-tag deep
 */
import { text as readText } from 'node:stream/consumers';
import { base58 } from '@scure/base';
import { afterAll, expect, it } from 'vitest';
import { createVaultPeer, type VaultPeer } from '../custody/vault-peer.ts';
import { runScript } from '../kit/run-script.ts';
import { serve } from '../kit/serve.ts';
import { writeSettings } from '../kit/settings-file.ts';
import { useFolder } from '../kit/use-folder.ts';
import { createSolanaKey } from '../world/keys.ts';
import { lazy, useWorld } from '../world/use-world.ts';
import { createAsryStage } from './asry-stage.ts';
import { type Body, createSwapCaller, until } from './swap-caller.ts';
import { createTokenCaller } from './token-caller.ts';

const DAILY = '5 0 * * *';

let vault: Awaited<ReturnType<typeof serve>>;
let peer: VaultPeer;
const folder = useFolder('sluice-evacuate-');

const startVault = () =>
  serve(async (request, response) => {
    try {
      const body = await readText(request);
      const { method = 'GET', headers } = request;
      const init = { method, headers: { 'x-vault-token': String(headers['x-vault-token']) } };
      const url = `http://vault.test${request.url}`;
      const answer = await peer.fetch(url, body === '' ? init : { ...init, body });
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(await answer.text());
    } catch {
      request.socket.destroy();
    }
  });
afterAll(() => vault?.stop());
const world = useWorld(async () => {
  vault = await startVault();
  return {
    ...{ cron: false, blockMs: 500, settleDelayMs: 500, slotMs: 200 },
    vars: (own) => {
      peer = createVaultPeer(base58.decode(String(own.SOLANA_PRIVATE_KEY)).slice(0, 32));
      return {
        SOLANA_PRIVATE_KEY: `http://${peer.token}@127.0.0.1:${vault.port}/v1/transit/keys/sluice`,
        RESERVE_SOLANA_ADDRESS: peer.address,
      };
    },
  };
});
afterAll(() => peer?.answerWaiting());
const caller = lazy(() => createTokenCaller(world));
const stage = lazy(() => createAsryStage(world));
const swaps = lazy(() => createSwapCaller(world));

const landed = () =>
  world.solana.ledger
    .transactionsOf(world.reserve.solana)
    .filter(({ accounts }) => accounts[0] === world.reserve.solana);

it('the key in the Vault signs a swap, a creation, a reward and a mint', async () => {
  expect(world.bindings.SOLANA_PRIVATE_KEY).toContain('/v1/transit/keys/');
  const before = landed().length;
  const deposit = await stage.deposit(await stage.user(), 20n);
  const invoice = await caller.invoice();
  await world.control.cron(DAILY);
  await caller.pay(invoice);
  const [made, claimed] = await Promise.all([swaps.create(0.3), stage.claim(deposit)]);
  expect([made.status, claimed.status]).toEqual([200, 200]);
  expect(await swaps.settled(String(made.body.id))).toMatchObject({ status: 'finished' });
  await stage.paid(deposit);
  await until('the token and the mint', async () => {
    await world.control.cron();
    const rows = (await world.worker.query("SELECT status FROM operations WHERE kind = 'absr'")) as Body[];
    const { body } = await caller.read(invoice.invoice_id);
    return (rows[0]?.status === 'finished' && body.status === 'completed') || undefined;
  });
  const fresh = landed().slice(0, landed().length - before);
  expect(fresh.map(({ err }) => err)).toEqual([null, null, null, null]);
  expect(peer.messages.length).toBeGreaterThanOrEqual(4);
});

it('with a new token, the operator evacuates a reserve whose key is in the Vault', async () => {
  const { address: cold } = await createSolanaKey();
  peer.token = 'hvs.new';
  const { SOLANA_PRIVATE_KEY: stolen = '', ...settings } = world.bindings;
  const { RESERVE_SOLANA_ADDRESS, SOLANA_RPC_URL, ABSR_MINT_ADDRESS } = settings;
  const file = writeSettings(folder, 'reserve.vars', {
    ...{ RESERVE_SOLANA_ADDRESS, SOLANA_RPC_URL, ABSR_MINT_ADDRESS, EVACUATION_ADDRESS: cold },
    SOLANA_PRIVATE_KEY: stolen.replace('hvs.test', peer.token),
  });
  const { code, stdout, stderr } = await runScript('ops', ['evacuate', '--settings', file, '--send']);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/Mint authority of ABSR[\s\S]*SOL[\s\S]*Done\./);
  expect(peer.messages.length).toBeGreaterThan(0);
});
