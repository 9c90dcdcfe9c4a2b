import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { expect, it, vi } from 'vitest';
import { isSignedBy, verifyingKey } from '../../../src/chain/ed25519.ts';
import { failureReason } from '../../../src/core/errors.ts';
import { createRemoteSigner } from '../../../src/custody/kernel/signer.ts';
import { createVaultTransit } from '../../../src/providers/vault-transit.ts';
import { createCustodianWorld, keyed } from '../../kit/custodian.ts';
import { FEE, SOL } from '../../kit/sample-operations.ts';
import { eachScene, playScenes } from '../../kit/scenes.ts';
import { playCustody } from '../custody-scenes.ts';
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

/** A signer over a key service. */
function createVerbs() {
  const peer = createVaultPeer();
  let { signer, logged, expire } = signerOver(peer);
  let signing: Promise<string> | undefined;
  const sign = async () => {
    const signature = await signer.sign(MESSAGE).catch(failureReason);
    if (typeof signature === 'string') return signature;
    return ed25519.verify(signature, MESSAGE, base58.decode(peer.address)) ? 'valid' : 'invalid';
  };
  return {
    /** The reserve has the address of another key. */
    'other-reserve': () => {
      ({ signer, logged, expire } = signerOver(peer, createVaultPeer(9).address));
    },
    mode: (...words: string[]) => Object.assign(peer, { mode: words.join(' ') }),
    type: (type: string) => Object.assign(peer, { type }),
    rotate: () => peer.rotate(),
    sign,
    async begin() {
      signing = sign();
      await requests(peer, peer.messages.length + 1);
    },
    expire: () => expire(),
    async answer() {
      peer.answerWaiting();
      await settle();
    },
    signed: () => signing,
    check: () => signer.check?.().then(() => 'passes', failureReason),
    messages: () => peer.messages.map((message) => message.join(' ')).join(', ') || 'none',
    renewals: () => peer.renewals,
    'logs-wrong-signature': () => logged.includes('key_service_wrong_signature'),
  };
}

playScenes(`
  a signature of the key service is valid for the message and the reserve address
    | sign = valid; messages = 1 2 3
  refuses the signature of a key service that signs another message
    | sign = valid; mode other message; sign = wrong_signature; logs-wrong-signature = true
  refuses the signature of a key service that signs with another key
    | sign = valid; mode other key; sign = wrong_signature; logs-wrong-signature = true
  refuses the signature of a key service if it is not base64
    | sign = valid; mode no base64; sign = unexpected_shape; logs-wrong-signature = false
  refuses the signature of a key service that is sealed
    | sign = valid; mode sealed; sign = status_503; logs-wrong-signature = false
  refuses the signature of a key service that denies access
    | sign = valid; mode forbidden; sign = status_403; logs-wrong-signature = false
  refuses the signature of a key service that is unreachable
    | sign = valid; mode unreachable; sign = unreachable; logs-wrong-signature = false
  stops waiting for the key service after a time limit, and discards a late signature
    | sign = valid; mode hanging; begin; expire; signed = timeout; answer; signed = timeout
  compares the key of the service with the reserve address before it sends the first message
    | other-reserve; sign = other_key; messages = none
  the periodic check compares the service's key with the reserve address
    | other-reserve; check = other_key
  the periodic check makes the service sign, so it finds a service that signs another message
    | check = passes; mode other message; check = wrong_signature
  the periodic check makes the service sign, so it finds a service that is sealed
    | check = passes; mode sealed; check = status_503
  the periodic check makes the service sign, so it finds a service that denies access
    | check = passes; mode forbidden; check = status_403
  the key of the service must be an ed25519 key
    | type ecdsa-p256; check = other_key
  after a rotation in the key service, the custodian requests the key version that belongs to the reserve address
    | rotate; sign = valid
  each periodic check renews the access token of the key service
    | sign; sign; renewals = 1; check; renewals = 2
`)(createVerbs);

/** A swap whose key is in the service, which has passed a check. */
async function playSwap(steps: string): Promise<void> {
  const peer = createVaultPeer(3);
  const { signer, expire } = signerOver(peer);
  const w = createCustodianWorld({
    signer,
    assemble: (message, signature) => ({
      wire: `${base58.encode(signature)} ${base58.encode(message)}`,
      signature: base58.encode(signature),
    }),
  });
  await signer.check?.();
  peer.messages.length = 0;
  let stored = '';
  let created: Promise<unknown> | undefined;
  const op = () => w.journal.get('swap:key-a');
  await playCustody(steps, w, {
    mode: (...words: string[]) => Object.assign(peer, { mode: words.join(' ') }),
    /** Starts the swap, whose signature is requested. */
    async begin() {
      created = w.custody.createSwap(keyed('a')).catch(() => undefined);
      await requests(peer, 1);
    },
    /** The wait for the service ends. */
    async expire() {
      expire();
      await created;
    },
    /** The service answers the requests that hang. */
    async answer() {
      peer.answerWaiting();
      await settle();
    },
    /** The timer fires. */
    async timer() {
      w.clock.now = Math.max(w.clock.now, w.storage.alarm ?? 0);
      await w.custody.alarm();
    },
    money: () => `${op()?.amount} moved, ${op()?.reserved} reserved, ${op()?.unsettled} unsettled`,
    /** The stored signature against that at the first look. */
    signing() {
      const shown = op()?.signing?.wire ?? 'none';
      stored ||= shown;
      return stored === shown ? 'stored' : 'changed';
    },
    /** Whether only the stored bytes were sent. */
    'sends-stored': () =>
      w.chain.sent.length > 0 && w.chain.sent.every((wire) => wire === op()?.signing?.wire),
    'sent-count': () => w.chain.sent.length,
    requests: () => peer.messages.length,
  });
}

const PLANNED = `${SOL} moved, ${SOL + FEE} reserved, 0 unsettled`;

it.each(['sealed', 'forbidden', 'unreachable', 'other message', 'other key', 'no base64'])(
  'a swap stays planned while the key service fails (%s), and a new message is signed later',
  (mode) =>
    playSwap(`mode ${mode}; swap a = IDEMPOTENCY_IN_PROGRESS; money = ${PLANNED}; timer; state a = planned; money = ${PLANNED};
      sent-count = 0; mode honest; timer; state a = signed; sent-count = 1; sends-stored = true; quotes = 3`),
);

eachScene(`
  a swap sends one transaction when a late response and a later request both return a signature
    | mode hanging; begin; expire; state a = planned; mode honest; timer; state a = signed; signing; answer; requests = 2; signing = stored; sent-count = 1; sends-stored = true; land; timer; state a = settling
  after a crash during a wait for the key service, only the transaction of the next instance is sent
    | mode hanging; begin; restart; mode honest; wait 15s; fire; requests = 2; signing; answer; signing = stored; sends-stored = true
  a swap without a signature ends after two minutes
    | mode sealed; swap a; wait 119s; timer; state a = planned; wait 2s; timer; row swap:key-a = failed upstream_status_503; money = 0 moved, 0 reserved, 0 unsettled; swap a = UPSTREAM_FAILED again; sent-count = 0
`)('%s', (_title, steps = '') => playSwap(steps));
