/**
 * Runs the deposit scenes on the test chain and stores its node's record of each transaction, so that the
 * verdicts are tested without a chain: `node scripts/record-deposits.ts`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createStage, DEPOSIT_SCENES, playScene } from '../test/chain/solana/deposit-scenes.ts';
import { createFaultBook } from '../test/world/fault-book.ts';
import { callRpc } from '../test/world/json-rpc.ts';
import { createRequestCounts } from '../test/world/request-counts.ts';
import { startRpcFront } from '../test/world/rpc-front.ts';
import { startSolanaWorld } from '../test/world/solana-world.ts';
import { argumentsOrUsage, readArguments } from './command-line.ts';

type Meta = {
  logMessages: unknown;
  postBalances: number[];
  postTokenBalances: { accountIndex: number }[];
};

argumentsOrUsage('node scripts/record-deposits.ts', (args) => readArguments(args, {}));
const FILE = join(import.meta.dirname, '../test/fixtures/deposit-transactions.json');

const world = await startSolanaWorld({
  slotMs: 50,
  reserveLamports: 10_000_000_000n,
  asrySupply: 10n ** 18n,
});
const front = await startRpcFront({
  name: 'rpc1',
  ledger: world.ledger,
  faults: createFaultBook(),
  counts: createRequestCounts(),
});
const stage = createStage(world);

const played = [];
for (const scene of DEPOSIT_SCENES) played.push({ ...scene, ...(await playScene(stage, scene)) });
await world.ledger.clock.reached(world.ledger.clock.slot('processed') + 40);

const scenes = [];
for (const { name, expected, signature, treasury, sender, held } of played) {
  const options = { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 0 };
  const { result } = await callRpc(front.url, 'getTransaction', [signature, options]);
  if (!result) throw new Error(`${name}: the chain does not have ${signature}`);
  const atoms = Object.entries(expected).map(([key, value]) => [key, String(value)]);
  const { logMessages: _, ...meta } = (result as { meta: Meta }).meta;
  // The virtual machine still shows the tokens of an account that was closed; a validator does not.
  meta.postTokenBalances = meta.postTokenBalances.filter((row) => meta.postBalances[row.accountIndex] !== 0);
  scenes.push({
    name,
    expected: Object.fromEntries(atoms),
    treasury,
    sender,
    held,
    transaction: { ...result, meta },
  });
}
const mints = { USDC: world.mints.usdc.mint, USDT: world.mints.usdt.mint };
const head = `"reserve": "${world.reserve.address}", "mints": ${JSON.stringify(mints)}`;
// One line per transaction.
writeFileSync(
  FILE,
  `{${head}, "scenes": [\n${scenes.map((scene) => JSON.stringify(scene)).join(',\n')}\n]}\n`,
);
console.log(`${scenes.length} transactions in ${FILE}`);
await front.stop();
world.stop();
