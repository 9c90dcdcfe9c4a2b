/**
 * Signs with a key that is held by a key service. The service is trusted only to hold the key: each signature
 * is verified before use. A late, missing or wrong signature is an error that changes no operation.
 * @module
 */
import { AppError, upstreamFailed } from '../../core/errors.ts';
import { failureReason } from '../../providers/solana-rpc.ts';
import type { Keychain } from '../../providers/vault-transit.ts';
import type { Log, Signer } from './ports.ts';

/** The signature is awaited for this time. The message is stored, so the next request is for the same one. */
const SIGN_TIMEOUT_MS = 8_000;
/** How long a successful check of the key remains valid. */
const CHECK_MS = 3_600_000;
const UPSTREAM = 'key_service';

export type RemoteSignerPorts = {
  readonly keychain: Keychain;
  /** Whether the ed25519 signature of the message is valid for the reserve's address. */
  verify(message: Uint8Array, signature: Uint8Array): Promise<boolean>;
  readonly within: <T>(work: Promise<T>, ms: number) => Promise<T | undefined>;
  readonly now: () => number;
  readonly log: Log;
};

export function createRemoteSigner({ keychain, verify, within, now, log }: RemoteSignerPorts): Signer {
  const { address } = keychain;
  let checkedAt: number | undefined;

  /** The result of `work`. @throws AppError UPSTREAM_FAILED when it fails or is late */
  async function awaited<T>(work: () => Promise<T>): Promise<T> {
    const started = work();
    // A late failure has no caller any more.
    started.catch(() => undefined);
    try {
      const value = await within(
        started.then((done) => ({ done })),
        SIGN_TIMEOUT_MS,
      );
      if (value) return value.done;
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw upstreamFailed(UPSTREAM, 'unexpected', cause);
    }
    throw upstreamFailed(UPSTREAM, 'timeout');
  }

  async function check(): Promise<void> {
    if (checkedAt !== undefined && now() - checkedAt < CHECK_MS && now() >= checkedAt) return;
    if (!(await awaited(() => keychain.isAvailable()))) {
      log({ level: 'alarm', event: 'key_service_other_key', address });
      throw upstreamFailed(UPSTREAM, 'other_key');
    }
    checkedAt = now();
  }

  return {
    address,
    isRemote: true,

    async check() {
      try {
        await check();
      } catch (error) {
        log({ level: 'warn', event: 'key_service_unchecked', reason: failureReason(error) });
      }
    },

    async sign(message) {
      await check();
      const [signed] = await awaited(() => keychain.signMessages([{ content: message }]));
      const signature = signed?.[address];
      if (signature && (await verify(message, signature))) return signature;
      log({ level: 'alarm', event: 'key_service_wrong_signature', address });
      throw upstreamFailed(UPSTREAM, 'wrong_signature');
    },
  };
}
