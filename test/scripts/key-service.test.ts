import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkUpstreams } from '../../scripts/doctor/check-upstreams.ts';
import { examine } from '../../scripts/doctor/examine.ts';
import { createVaultPeer, type VaultPeer } from '../custody/vault-peer.ts';

const SEED = new Uint8Array(32).fill(5);
const SECRET = base58.encode(new Uint8Array([...SEED, ...ed25519.getPublicKey(SEED)]));

const urlWith = (token: string) => `https://${token}@vault.example/v1/transit/keys/sluice`;
const settingsFor = (peer: VaultPeer, change: Readonly<Record<string, string>> = {}) => ({
  SOLANA_PRIVATE_KEY: urlWith(peer.token),
  RESERVE_SOLANA_ADDRESS: peer.address,
  RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  PUBLIC_BASE_URL: 'https://sluice.example',
  ...change,
});

describe('the doctor', () => {
  afterEach(() => void vi.unstubAllGlobals());

  /** Problems that name the key service; every other upstream is unreachable. */
  async function found(peer: VaultPeer, change: Readonly<Record<string, string>> = {}) {
    vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => {
      if (new URL(url).host === 'vault.example') return peer.fetch(url, init);
      throw new TypeError('fetch failed');
    });
    const findings = await checkUpstreams(settingsFor(peer, change));
    return findings.filter(({ name }) => name.startsWith('key-service'));
  }

  it("the doctor finds no problem with the reserve's remote key, and does not sign with it", async () => {
    const peer = createVaultPeer();
    expect(await found(peer)).toEqual([]);
    expect(peer.messages).toEqual([]);
  });

  it('the doctor names the address of the remote key if it belongs to another reserve', async () => {
    const peer = createVaultPeer();
    const [finding] = await found(peer, { RESERVE_SOLANA_ADDRESS: createVaultPeer(9).address });
    expect(finding).toMatchObject({ name: 'key-service-other-key', level: 'problem' });
    expect(finding?.what).toContain(peer.address);
  });

  it('the doctor reports a Vault token that may not read the key', async () => {
    const [finding] = await found(createVaultPeer(), { SOLANA_PRIVATE_KEY: urlWith('hvs.other') });
    expect(finding).toMatchObject({ name: 'key-service-unreachable' });
    expect(finding?.what).toContain('status_403');
  });

  it.each([
    ['missing', ''],
    ['the address of another key', createVaultPeer(9).address],
  ])("the doctor names the secret key's address if RESERVE_SOLANA_ADDRESS is %s", async (_case, address) => {
    const own = createVaultPeer(SEED);
    const change = { SOLANA_PRIVATE_KEY: SECRET, RESERVE_SOLANA_ADDRESS: address };
    const findings = await examine({ settings: settingsFor(own, change), files: {}, offline: true });
    const finding = findings.find(({ name }) => name === 'solana-key-mismatch');
    expect(finding?.level).toBe('problem');
    expect(finding?.what).toContain(own.address);
  });
});
