import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { describe, expect, it, vi } from 'vitest';
import { isSignedBy, verifyingKey } from '../../../src/chain/ed25519.ts';
import { upstream } from '../../../src/custody/kernel/reason.ts';
import { createRemoteSigner } from '../../../src/custody/kernel/signer.ts';
import { createVaultTransit } from '../../../src/providers/vault-transit.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { createFakeBridge, createSwapPorts } from '../../kit/fake-bridge.ts';
import { land } from '../../kit/fake-chain.ts';
import { createVaultPeer, type VaultPeer } from '../vault-peer.ts';

const MESSAGE = Uint8Array.of(1, 2, 3);

/** @param expire ends the wait for hanging calls, as the clock would */
function signerOver(peer: VaultPeer, address = peer.address) {
  const logged: string[] = [];
  const key = verifyingKey(base58.decode(address));
  let expire = (): void => undefined;
  const signer = createRemoteSigner({
    keychain: createVaultTransit({
      baseUrl: 'https://vault.example',
      token: 'hvs.test',
      mount: 'transit',
      key: 'sluice',
      address,
      fetch: peer.fetch,
    }),
    async verify(message, signature) {
      const verifying = await key;
      return verifying !== undefined && isSignedBy(verifying, message, signature);
    },
    within: (work) =>
      Promise.race([
        work,
        new Promise<undefined>((resolve) => {
          expire = () => resolve(undefined);
        }),
      ]),
    log: (line) => logged.push(String(line.event)),
  });
  return { signer, logged, expire: () => expire() };
}

/** Waits until the service has received this number of signing requests. */
const requests = (peer: VaultPeer, count: number) =>
  vi.waitFor(() => expect(peer.messages).toHaveLength(count), 60_000);
/** Lets the work run that a late response would start. */
const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 20));

describe('a signature of the key service', () => {
  it('a signature of the key service is valid for the message and the reserve address', async () => {
    const peer = createVaultPeer();
    const { signer } = signerOver(peer);
    const signature = await signer.sign(MESSAGE);
    expect(ed25519.verify(signature, MESSAGE, base58.decode(peer.address))).toBe(true);
    expect(peer.messages).toEqual([MESSAGE]);
  });

  it.each([
    ['other message', 'wrong_signature'],
    ['other key', 'wrong_signature'],
    ['no base64', 'unexpected_shape'],
    ['sealed', 'status_503'],
    ['forbidden', 'status_403'],
    ['unreachable', 'unreachable'],
  ] as const)('refuses the signature of a faulty key service: %s', async (mode, reason) => {
    const peer = createVaultPeer();
    const { signer, logged } = signerOver(peer);
    await signer.sign(MESSAGE);
    peer.mode = mode;
    await expect(signer.sign(MESSAGE)).rejects.toMatchObject({ details: { reason } });
    expect(logged.includes('key_service_wrong_signature')).toBe(reason === 'wrong_signature');
  });

  it('stops waiting for the key service after a time limit, and discards a late signature', async () => {
    const peer = createVaultPeer();
    const { signer, expire } = signerOver(peer);
    await signer.sign(MESSAGE);
    peer.mode = 'hanging';
    const signing = signer.sign(MESSAGE);
    const refused = expect(signing).rejects.toMatchObject({ details: { reason: 'timeout' } });
    await requests(peer, 2);
    expire();
    await refused;
    peer.answerWaiting();
    await settle();
  });
});

describe('the key of the service', () => {
  it('compares the key of the service with the reserve address before it sends the first message', async () => {
    const peer = createVaultPeer();
    const { signer } = signerOver(peer, createVaultPeer(9).address);
    await expect(signer.sign(MESSAGE)).rejects.toMatchObject({ details: { reason: 'other_key' } });
    expect(peer.messages).toEqual([]);
  });

  it("the periodic check compares the service's key with the reserve address", async () => {
    const { signer } = signerOver(createVaultPeer(), createVaultPeer(9).address);
    await expect(signer.check?.()).rejects.toMatchObject({ details: { reason: 'other_key' } });
  });

  it.each([
    ['other message', 'wrong_signature'],
    ['sealed', 'status_503'],
    ['forbidden', 'status_403'],
  ] as const)(
    'the periodic check makes the service sign, so it finds one that fails: %s',
    async (mode, reason) => {
      const peer = createVaultPeer();
      const { signer } = signerOver(peer);
      await signer.check?.();
      peer.mode = mode;
      await expect(signer.check?.()).rejects.toMatchObject({ details: { reason } });
    },
  );

  it('the key of the service must be an ed25519 key', async () => {
    const peer = createVaultPeer();
    peer.type = 'ecdsa-p256';
    const { signer } = signerOver(peer);
    await expect(signer.check?.()).rejects.toMatchObject({ details: { reason: 'other_key' } });
  });

  it('after a rotation in the key service, the custodian requests the key version that belongs to the reserve address', async () => {
    const peer = createVaultPeer();
    const { signer } = signerOver(peer);
    peer.rotate();
    const signature = await signer.sign(MESSAGE);
    expect(ed25519.verify(signature, MESSAGE, base58.decode(peer.address))).toBe(true);
  });

  it('each periodic check renews the access token of the key service', async () => {
    const peer = createVaultPeer();
    const { signer } = signerOver(peer);
    await signer.sign(MESSAGE);
    await signer.sign(MESSAGE);
    expect(peer.renewals).toBe(1);
    await signer.check?.();
    expect(peer.renewals).toBe(2);
  });
});

describe('a swap whose key is in the service', () => {
  function world() {
    const peer = createVaultPeer(3);
    const remote = signerOver(peer);
    const bridge = createFakeBridge();
    const swap = createSwapPorts(bridge);
    const w = createCustodianWorld({
      signer: remote.signer,
      swap,
      assemble: (message, signature) => ({
        wire: `${base58.encode(signature)} ${base58.encode(message)}`,
        signature: base58.encode(signature),
      }),
    });
    const check = async (): Promise<void> => {
      await remote.signer.check?.();
      peer.messages.length = 0;
    };
    const alarm = async (): Promise<void> => {
      w.clock.now = Math.max(w.clock.now, w.storage.alarm ?? 0);
      await w.custody.alarm();
    };
    const op = () => {
      const found = w.journal.get('swap:key-a');
      if (!found) throw new Error('no swap');
      return found;
    };
    return { ...w, ...remote, clock: w.clock, peer, check, alarm, op, quotes: bridge.quotes };
  }

  it.each(['sealed', 'forbidden', 'unreachable', 'other message', 'other key', 'no base64'] as const)(
    'a swap stays planned while the key service fails (%s), and later gets a new message signed',
    async (mode) => {
      const w = world();
      await w.check();
      w.peer.mode = mode;
      expect(await w.custody.createSwap(keyed('a'))).toMatchObject({
        type: 'refused',
        refusal: { code: 'IDEMPOTENCY_IN_PROGRESS' },
      });
      const before = w.op();
      expect(before).toMatchObject({ state: 'planned', signing: null, unsettled: 0n });
      await w.alarm();
      expect(w.op()).toMatchObject({ state: 'planned', reserved: before.reserved, amount: before.amount });
      expect(w.chain.sent).toEqual([]);
      w.peer.mode = 'honest';
      await w.alarm();
      expect(w.op().state).toBe('signed');
      expect(w.chain.sent).toEqual([w.op().signing?.wire]);
      expect(w.quotes).toHaveLength(3);
    },
  );

  it('a swap sends one transaction when a late response and a later request both return a signature', async () => {
    const w = world();
    await w.check();
    w.peer.mode = 'hanging';
    const created = w.custody.createSwap(keyed('a'));
    await requests(w.peer, 1);
    w.expire();
    await created;
    expect(w.op().state).toBe('planned');
    w.peer.mode = 'honest';
    await w.alarm();
    const stored = w.op();
    w.peer.answerWaiting();
    await settle();
    expect(w.peer.messages).toHaveLength(2);
    expect(w.op()).toEqual(stored);
    expect(w.chain.sent).toEqual([stored.signing?.wire]);
    land(w.chain);
    await w.alarm();
    expect(w.op().state).toBe('settling');
  });

  it('after a crash during a wait for the key service, only the transaction of the next instance is sent', async () => {
    const w = world();
    await w.check();
    w.peer.mode = 'hanging';
    void w.custody.createSwap(keyed('a')).catch(() => undefined);
    await requests(w.peer, 1);
    const next = w.start();
    w.peer.mode = 'honest';
    w.clock.now += 15_000;
    await next.alarm();
    expect(w.peer.messages).toHaveLength(2);
    const { signing } = w.op();
    w.peer.answerWaiting();
    await settle();
    expect(w.op().signing).toEqual(signing);
    expect(new Set(w.chain.sent)).toEqual(new Set([signing?.wire]));
  });

  it('a swap without a signature ends after two minutes', async () => {
    const w = world();
    await w.check();
    w.peer.mode = 'sealed';
    await w.custody.createSwap(keyed('a'));
    w.clock.now += 119_000;
    await w.alarm();
    expect(w.op().state).toBe('planned');
    w.clock.now += 2_000;
    await w.alarm();
    expect(w.op()).toMatchObject({
      state: 'failed',
      reason: upstream('status_503'),
      reserved: 0n,
      amount: 0n,
    });
    expect(await w.custody.createSwap(keyed('a'))).toMatchObject({
      type: 'refused',
      refusal: { code: 'UPSTREAM_FAILED' },
    });
    expect(w.chain.sent).toEqual([]);
  });
});
