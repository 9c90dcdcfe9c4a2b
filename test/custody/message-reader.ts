/**
 * Decodes the effects of a signed message from its bytes alone, as the chain does.
 * @module
 */
import { base58 } from '@scure/base';

export type Movement = {
  /** Identifies an intent on the chain: the exact amount of a swap, or the name in a payout's bytes. */
  readonly intent: string;
  /** Where it goes, base58. */
  readonly to: string;
  readonly lamports: bigint;
  readonly fee: bigint;
  /** Text of the blockhash that limits its life. */
  readonly blockhash: string;
};

const PAYOUT = 'payout|';
/** Lamports per signature. */
export const SIGNATURE_FEE = 5_000n;
/** System program, instruction 2: Transfer { lamports: u64 }. */
const SYSTEM = 32;

/** The message of the second model kind: plain text, one line. */
export const payoutMessage = (p: {
  id: string;
  to: string;
  lamports: bigint;
  blockhash: string;
}): Uint8Array => new TextEncoder().encode(`${PAYOUT}${p.id}|${p.to}|${p.lamports}|${p.blockhash}`);

export function readMessage(message: Uint8Array): Movement {
  const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (text.subarray(0, PAYOUT.length).toString('latin1') === PAYOUT) {
    const [, id = '', to = '', lamports = '0', blockhash = ''] = text.toString('latin1').split('|');
    return { intent: id, to, lamports: BigInt(lamports), fee: SIGNATURE_FEE, blockhash };
  }
  return readTransfer(text);
}

/** A version 0 message of Solana with one System transfer and compute budget instructions. */
function readTransfer(bytes: Buffer): Movement {
  if (bytes[0] !== 0x80) throw new Error('not a version 0 message');
  let offset = 4;
  const byte = (): number => bytes.readUInt8(offset++);
  const count = byte();
  const keysAt = offset;
  offset += count * 32;
  const key = (index: number): Buffer => bytes.subarray(keysAt + index * 32, keysAt + index * 32 + 32);
  const blockhash = base58.encode(bytes.subarray(offset, offset + 32));
  offset += 32;
  let transfer: { to: string; lamports: bigint } | undefined;
  let units = 0n;
  let price = 0n;
  for (let left = byte(); left > 0; left--) {
    const program = key(byte());
    const accounts = bytes.subarray(offset + 1, offset + 1 + bytes.readUInt8(offset));
    offset += 1 + accounts.length;
    const data = bytes.subarray(offset + 1, offset + 1 + bytes.readUInt8(offset));
    offset += 1 + data.length;
    if (program.every((value) => value === 0)) {
      if (transfer || data.readUInt32LE(0) !== 2) throw new Error('not one System transfer');
      transfer = { to: base58.encode(key(accounts[1] ?? SYSTEM)), lamports: data.readBigUInt64LE(4) };
    } else if (data[0] === 2) units = BigInt(data.readUInt32LE(1));
    else if (data[0] === 3) price = data.readBigUInt64LE(1);
  }
  if (!transfer) throw new Error('no transfer');
  const fee = SIGNATURE_FEE + (units * price) / 1_000_000n;
  return { ...transfer, intent: `amount:${transfer.lamports}`, fee, blockhash };
}

/** 64 bytes in place of an ed25519 signature: the same message always has the same one. */
export function signatureOf(message: Uint8Array): Uint8Array {
  let a = 0x811c9dc5;
  let b = 0x1b873593;
  for (const value of message) {
    a = Math.imul(a ^ value, 0x01000193);
    b = Math.imul(b ^ value, 0x85ebca6b) ^ (b >>> 13);
  }
  const signature = new Uint8Array(64).fill(7);
  const view = new DataView(signature.buffer);
  view.setUint32(0, a >>> 0);
  view.setUint32(4, b >>> 0);
  return signature;
}

/** Wire text: signature and message, as the custodian stores and sends them. */
export function assemble(message: Uint8Array, signature: Uint8Array): { wire: string; signature: string } {
  const text = `S${Buffer.from(signature.subarray(0, 8)).toString('hex')}`;
  return { wire: `${text}.${Buffer.from(message).toString('base64')}`, signature: text };
}

export function readWire(wire: string): { signature: string; message: Uint8Array } {
  const at = wire.indexOf('.');
  return { signature: wire.slice(0, at), message: Buffer.from(wire.slice(at + 1), 'base64') };
}
