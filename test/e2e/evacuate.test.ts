/** @module-tag deep */
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findAta } from '../../src/chain/solana/token-instructions.ts';
import { decodeMint, decodeTokenAccount, TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { createSolanaRpc } from '../../src/providers/solana-rpc.ts';
import { runScript } from '../kit/run-script.ts';
import { writeSettings } from '../kit/settings-file.ts';
import { useFolder } from '../kit/use-folder.ts';
import { createSolanaKey } from '../world/keys.ts';
import { useWorld } from '../world/use-world.ts';
import { type LyingNode, startLyingNode } from './lying-node.ts';

const { address: cold } = await createSolanaKey();

/** Two nodes whose first finalized view after a change still shows the earlier lamports of the reserve. */
const slow = await Promise.all([startLyingNode(), startLyingNode()]);
afterAll(() => Promise.all(slow.map((node) => node.stop())));
function finalizeSlowly(node: LyingNode, target: string): void {
  let shown: number | undefined;
  let isSlow = true;
  node.forwardTo(target);
  node.tell((method, [, config], result) => {
    const { value = [] } = result as { value?: { lamports: number }[] };
    const [reserve, ...others] = value;
    const isFinalized = (config as { commitment?: unknown }).commitment === 'finalized';
    if (method !== 'getMultipleAccounts' || !reserve || others.length < 2) return result;
    shown ??= reserve.lamports;
    if (reserve.lamports === shown || !isSlow || !isFinalized) return result;
    isSlow = false;
    return { ...(result as object), value: [{ ...reserve, lamports: shown }, ...others] };
  });
}

describe.each([
  ['one key', false],
  ['two keys', true],
])('an evacuation after the theft of the key, with a mint authority of %s', (_keys, witness) => {
  const folder = useFolder('sluice-evacuate-');
  const world = useWorld({ cron: false, blockMs: 0, slotMs: 20, witness }, ({ bindings, solana }) => {
    const { SOLANA_PRIVATE_KEY, SOLANA_RPC_URL, ABSR_MINT_ADDRESS, ASRY_MINT_ADDRESS } = bindings;
    const [url = ''] = SOLANA_RPC_URL?.split(',') ?? [];
    for (const node of slow) finalizeSlowly(node, url);
    const urls = [...slow.map((node) => node.url), url].join();
    const settings = { SOLANA_PRIVATE_KEY, SOLANA_RPC_URL: urls, ABSR_MINT_ADDRESS, ASRY_MINT_ADDRESS };
    writeSettings(folder, 'reserve.vars', { ...settings, EVACUATION_ADDRESS: cold });
    writeSettings(folder, 'without.vars', settings);
    writeSettings(folder, 'witness.vars', { WITNESS_PRIVATE_KEY: solana.multisig?.witness.secretKey });
  });
  const evacuate = (...args: string[]) =>
    runScript('ops', ['evacuate', '--settings', join(folder, 'reserve.vars'), ...args], {
      // A name in the shell decides nothing.
      EVACUATION_ADDRESS: world.users[0]?.address ?? '',
    });
  const accounts = async (...addresses: string[]) => {
    const urls = world.bindings.SOLANA_RPC_URL?.split(',').slice(0, 1) ?? [];
    const { nodes } = createSolanaRpc({ urls, fetch: (target, init) => fetch(target, init) });
    return (await nodes[0]?.accounts(addresses, 'finalized'))?.accounts ?? [];
  };
  const chain = async () => {
    const [reserve, own, mint, asry] = await accounts(
      world.reserve.solana,
      cold,
      world.mints.absr,
      findAta(cold, world.mints.asry, TOKEN_PROGRAM),
    );
    return {
      reserve: reserve?.lamports ?? 0n,
      cold: own?.lamports ?? 0n,
      authority: mint && decodeMint(mint.owner, mint.data)?.mintAuthority,
      asry: asry ? decodeTokenAccount(asry.owner, asry.data)?.atoms : undefined,
    };
  };

  it('refuses an evacuation if EVACUATION_ADDRESS was not set beforehand', async () => {
    const refused = await runScript('ops', ['evacuate', '--settings', join(folder, 'without.vars')], {
      EVACUATION_ADDRESS: cold,
    });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('EVACUATION_ADDRESS must be set'),
    });
  });

  it('shows what it would move, and sends it only with --send', async () => {
    const before = await chain();
    const { code, stdout, stderr } = await evacuate();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`To   ${cold}`);
    expect(stdout).toMatch(/ASRY[\s\S]*SOL[\s\S]*Nothing was sent/);
    expect(stdout.includes('needs the witness')).toBe(witness);
    expect(await chain()).toEqual(before);
  });

  it('moves the mint authority, ASRY and SOL, even if two of three nodes finalize slowly, and a repeat finds nothing left', async () => {
    const { reserve } = await chain();
    const both = witness ? ['--witness-settings', join(folder, 'witness.vars')] : [];
    const { code, stdout, stderr } = await evacuate('--send', ...both);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('Done.');
    const after = await chain();
    expect(after).toMatchObject({ reserve: 0n, authority: cold, asry: 1_000_000_000_000_000_000n });
    // Fees of at most four signatures and the rent of one token account are spent.
    expect(reserve - after.cold).toBeLessThan(10_000_000n);
    expect((await evacuate('--send')).stdout).toContain('Nothing is left to move.');
  });
});
