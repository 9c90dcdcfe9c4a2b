/**
 * A key service that fails, returns wrong signatures, hangs or responds late. Like a service with random nonces, it
 * signs the same message differently in each request.
 * @module
 */
import type { Instance } from './host.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { signatureOf } from './transactions.ts';

const LAST = 63;
/** Longer than the custodian awaits a signature. */
const LATE_MS = [9_000, 40_000] as const;

/** Whether this is one of the signatures that the service makes of a message. */
export function isOfMessage(message: Uint8Array, signature: Uint8Array): boolean {
  const own = signatureOf(message);
  return signature.length === own.length && own.every((byte, at) => at === LAST || byte === signature[at]);
}

export function createKeyService(p: {
  readonly address: () => string;
  readonly random: Random;
  readonly scheduler: Scheduler;
  /** Chance of a fault per request. */
  readonly rate: () => number;
  readonly count: (name: string) => void;
}) {
  const { random, scheduler } = p;
  let made = 0;

  async function sign(message: Uint8Array): Promise<Uint8Array> {
    const signature = signatureOf(message);
    made = (made + 1) % 251;
    signature[LAST] = made;
    if (!random.chance(p.rate())) return signature;
    const fault = random.pick(['fails', 'lies', 'hangs', 'is late'] as const);
    p.count(`key service ${fault}`);
    if (fault === 'fails') throw new Error('the key service is sealed');
    if (fault === 'lies') return signatureOf(Uint8Array.of(made, ...message));
    if (fault === 'hangs') return new Promise(() => undefined);
    await scheduler.sleep(random.between(...LATE_MS));
    return signature;
  }

  return (instance: Instance) => ({
    address: p.address(),
    isAvailable: () => instance.cross('keys.check', async () => true),
    sign: (message: Uint8Array) => instance.cross('keys.sign', () => sign(message)),
  });
}
