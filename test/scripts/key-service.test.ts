import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkUpstreams } from '../../scripts/doctor/check-upstreams.ts';
import { examine } from '../../scripts/doctor/examine.ts';
import { readConfig } from '../../src/config.ts';
import { missingFor } from '../../src/wiring/missing-settings.ts';
import { createVaultPeer, type VaultPeer } from '../custody/vault-peer.ts';

const SEED = new Uint8Array(32).fill(5);
const SECRET = base58.encode(new Uint8Array([...SEED, ...ed25519.getPublicKey(SEED)]));

const settingsFor = (peer: VaultPeer, change: Readonly<Record<string, string>> = {}) => ({
  VAULT_URL: 'https://vault.example/v1/transit/keys/sluice',
  VAULT_TOKEN: peer.token,
  RESERVE_SOLANA_ADDRESS: peer.address,
  RESERVE_BTC_ADDRESS: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  PUBLIC_BASE_URL: 'https://sluice.example',
  ...change,
});

describe('the settings of a key service', () => {
  const missing = (settings: Readonly<Record<string, string>>) => missingFor(readConfig(settings), 'custody');

  it('the API needs no secret of the key service', () => {
    expect(missing(settingsFor(createVaultPeer(), { VAULT_TOKEN: '' }))).toEqual([]);
  });

  it.each([
    ['RESERVE_SOLANA_ADDRESS', { RESERVE_SOLANA_ADDRESS: '' }],
    ['VAULT_URL', { VAULT_URL: 'https://vault.example' }],
    ['VAULT_URL', { VAULT_URL: 'https://vault.example/v1/transit/keys/..%2Fsys' }],
  ])('the API reports %s as missing when it is invalid', (name, change) => {
    expect(missing(settingsFor(createVaultPeer(), change))).toEqual([name]);
  });
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

  it("the doctor finds no problem with the reserve's remote key, and signs nothing", async () => {
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
    const [finding] = await found(createVaultPeer(), { VAULT_TOKEN: 'hvs.other' });
    expect(finding).toMatchObject({ name: 'key-service-unreachable' });
    expect(finding?.what).toContain('status_403');
  });

  it.each([
    ['missing', ''],
    ['the address of another key', createVaultPeer(9).address],
  ])("the doctor names the secret key's address if RESERVE_SOLANA_ADDRESS is %s", async (_case, address) => {
    const own = createVaultPeer(SEED);
    const change = { VAULT_URL: '', SOLANA_PRIVATE_KEY: SECRET, RESERVE_SOLANA_ADDRESS: address };
    const findings = await examine({ settings: settingsFor(own, change), files: {}, offline: true });
    const finding = findings.find(({ name }) => name === 'solana-key-mismatch');
    expect(finding?.level).toBe('problem');
    expect(finding?.what).toContain(own.address);
  });

  it('the doctor reports a key that is set in two places and a missing variable', async () => {
    const settings = settingsFor(createVaultPeer(), { SOLANA_PRIVATE_KEY: SECRET, VAULT_TOKEN: '' });
    const findings = await examine({ settings, files: {}, offline: true });
    const names = findings.map(({ name }) => name);
    expect(names).toContain('solana-key-twice');
    expect(names).toContain('variable-missing');
  });
});
