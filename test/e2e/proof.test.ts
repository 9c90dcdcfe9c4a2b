import { createPublicKey, verify } from 'node:crypto';
import { base58 } from '@scure/base';
import { beforeAll, describe, expect, it } from 'vitest';
import { askPeers } from '../chain/bitcoin/peers.ts';
import { runScript } from '../kit/run-script.ts';
import { mintOfTheDay } from '../world/mint-of-the-day.ts';
import { useWorld } from '../world/use-world.ts';
import { ask } from './swap-caller.ts';

const world = useWorld({ cron: false, blockMs: 0 });

interface Proof {
  readonly message: string;
  readonly timestamp: string;
  readonly bitcoin: {
    readonly address: string;
    readonly signature: string;
    readonly signatureUnprefixed: string;
  };
  readonly solana: { readonly address: string; readonly signature: string };
}

describe('the proof', () => {
  it('the proof has every contract field, and independent libraries accept both signatures', async () => {
    const { status, body } = await ask(world, '/api/proof');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      bitcoin: { address: world.reserve.bitcoin, scheme: 'bip322-simple', offline: false },
      solana: { address: world.reserve.solana, scheme: 'ed25519-utf8' },
      figures: {
        service: new URL(world.url).host,
        reserveSatoshis: '1000000',
        absrMint: world.mints.absr,
        absrSupplyAtoms: '0',
        bitcoinTipHeight: world.bitcoin.height(),
        previousProof: null,
      },
      stale: false,
    });
    const { message, timestamp, bitcoin, solana } = body as never as Proof;
    expect(message).toContain(`Time: ${timestamp}`);
    for (const signature of [bitcoin.signature, bitcoin.signatureUnprefixed]) {
      expect(askPeers({ address: bitcoin.address, message, signature })).toEqual({ 'bip322-js': true });
    }
    // Node's own ed25519, over a key in its standard wrapping (RFC 8410).
    const spki = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      Buffer.from(base58.decode(solana.address)),
    ]);
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    expect(verify(null, Buffer.from(message), key, Buffer.from(base58.decode(solana.signature)))).toBe(true);
  });
});

describe('npm run verify', () => {
  beforeAll(() => mintOfTheDay(world));

  /** The lines after the target. */
  const linesOf = (text: string): string[] =>
    text
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('Target: '));

  async function verifyFrom(url: string, explorers: string[], rpc = world.endpoints.rpc1) {
    const args = [url, '--explorers', explorers.join(','), '--rpc', rpc];
    const { code, stdout, stderr } = await runScript('verify', args);
    return { code, lines: linesOf(stdout || stderr) };
  }
  const explorers = () => [`${world.endpoints.esplora1}/api`, `${world.endpoints.esplora2}/api`];

  it('npm run verify prints six lines for a valid proof, and warns that one key mints', async () => {
    const { code, lines } = await verifyFrom(world.url, explorers());
    expect(lines.map((line) => line.slice(0, 22).trim())).toEqual([
      'ok   bitcoin_signature',
      'ok   solana_signature',
      'ok   reserve',
      'ok   supply',
      'ok!  minting',
      'ok   freshness',
    ]);
    expect(code).toBe(0);
  });

  it.each([
    ['1', 'both explorers contradict the proof', 2, 'wrongBalance', 'RED', ['reserve', 'supply']],
    ['2', 'one explorer contradicts the proof', 1, 'wrongBalance', '?', ['reserve', 'supply']],
    ['2', 'one explorer cannot be reached', 1, '500', '?', ['reserve', 'freshness']],
  ])('npm run verify ends with code %s when %s', async (code, _name, broken, kind, mark, names) => {
    for (const explorer of (['esplora2', 'esplora1'] as const).slice(0, broken))
      world.faults.set(explorer, { kind, by: -1_000 });
    const { code: ended, lines } = await verifyFrom(world.url, explorers());
    const marked = lines.filter((line) => !line.startsWith('ok')).map((line) => line.split(/ +/).slice(0, 2));
    expect(marked).toEqual(names.map((name) => [mark, name]));
    expect(String(ended)).toBe(code);
  });
});
