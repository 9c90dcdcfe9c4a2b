/**
 * The reserve's key is in a Vault, not in the Worker: every kind of signature, with an honest and a faulty
 * Vault.
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
const AMOUNT = 300_000_000n;

let vault: Awaited<ReturnType<typeof serve>>;
let peer: VaultPeer;
let clients = 0;
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
const isMint = ({ accounts }: { readonly accounts: readonly string[] }): boolean =>
  accounts.includes(world.mints.absr);
/** Landed transactions of the reserve without the daily mint, which each run of the cron may begin. */
const signed = () => landed().filter((transaction) => !isMint(transaction));

const logged = (event: string): number =>
  world.worker.logs().filter((line) => line.includes(`"event":"${event}"`)).length;

/** A paid invoice, a deposit to claim, and a swap's key. */
async function prepare() {
  const deposit = await stage.deposit(await stage.user(), 20n);
  const invoice = await caller.invoice();
  return { deposit, invoice, key: crypto.randomUUID(), ip: `10.70.${++clients}.1` };
}

/** The swap's stored answer to its key: created, or refused for good. */
const swapped = ({ key, ip }: { key: string; ip: string }) =>
  until('the swap is decided', async () => {
    const answer = await swaps.create(0.3, { key, ip });
    const isStored = answer.headers.get('idempotency-replayed') === 'true';
    return answer.status === 200 || isStored ? answer : undefined;
  });

/** Every request takes effect once or, for a swap, not at all. */
async function judge(asked: Awaited<ReturnType<typeof prepare>>, before: number): Promise<void> {
  const { body: swap, status } = await swapped(asked);
  const end: Body = status === 200 ? await swaps.settled(String(swap.id)) : {};
  await caller.until(
    async () => {
      await world.control.cron();
      return caller.read(asked.invoice.invoice_id);
    },
    (answer) => answer.body.status === 'completed',
  );
  await stage.claim(asked.deposit);
  await stage.paid(asked.deposit);
  await caller.finality();
  const fresh = signed().slice(0, signed().length - before);
  expect(fresh.map(({ err }) => err)).toEqual(fresh.map(() => null));
  const hasMoved = status === 200 && end.reason !== 'expired';
  // A creation, a reward, and the swap if it was made.
  expect(fresh).toHaveLength(2 + (hasMoved ? 1 : 0));
  expect(stage.payoutsOf(asked.deposit)).toHaveLength(1);
  const paid = swaps.payments().filter(({ signature }) => signature === swap.id);
  expect(paid.map(({ lamports }) => lamports)).toEqual(hasMoved ? [AMOUNT] : []);
}

it('the key in the Vault signs a swap, a creation, a reward and a mint', async () => {
  expect(world.bindings.SOLANA_PRIVATE_KEY).toContain('/v1/transit/keys/');
  const before = signed().length;
  const asked = await prepare();
  await world.control.cron(DAILY);
  await caller.pay(asked.invoice);
  const [made, claimed] = await Promise.all([swapped(asked), stage.claim(asked.deposit)]);
  expect([made.status, claimed.status]).toEqual([200, 200]);
  await until('the mint', async () => {
    await world.control.cron();
    const rows = (await world.worker.query("SELECT status FROM operations WHERE kind = 'absr'")) as Body[];
    return rows[0]?.status === 'finished' ? true : undefined;
  });
  await judge(asked, before);
  expect(landed().filter(isMint)).toHaveLength(1);
  expect(peer.messages.length).toBeGreaterThanOrEqual(4);
});

/** The other failures of a Vault are those of test/custody/kernel/signer-remote.test.ts and of the simulation. */
it('while the Vault hangs no balance moves; afterwards each payment is made at most once', async () => {
  const asked = await prepare();
  const before = signed().length;
  const seen = logged('sign_failed');
  peer.mode = 'hanging';
  await caller.pay(asked.invoice);
  const waiting = Promise.all([swaps.create(0.3, asked), stage.claim(asked.deposit)]);
  await caller.until(
    async () => {
      await world.control.cron();
      return (await caller.read(asked.invoice.invoice_id)).body;
    },
    ({ reason }) => String(reason).startsWith('upstream_'),
  );
  await until('the Vault has failed', () => (logged('sign_failed') >= seen + 3 ? true : undefined));
  expect(signed()).toHaveLength(before);
  peer.mode = 'honest';
  // Hanging requests are answered late, after a later request has replaced them.
  peer.answerWaiting();
  await waiting;
  await judge(asked, before);
});

it('the operator evacuates a reserve whose key is in the Vault, with a new token', async () => {
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
