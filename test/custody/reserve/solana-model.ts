/**
 * A Solana chain that executes the custodian's transactions from their bytes, and nodes that show it late or
 * not at all.
 */
import { base58, base64 } from '@scure/base';
import {
  address,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  none,
  some,
} from '@solana/web3.js';
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo';
import { getMintEncoder } from '@solana-program/token';
import { TOKEN_PROGRAM } from '../../../src/chain/solana/token-program.ts';
import { lamports } from '../../../src/core/amount.ts';
import { upstreamFailed } from '../../../src/core/errors.ts';
import type { Blockhash, ChainPort } from '../../../src/custody/kernel/solana-view.ts';
import type { ReserveSources } from '../../../src/custody/reserve/reserve-views.ts';
import { AGREEMENT } from '../../kit/fake-chain.ts';

export const SLOT_MS = 400;
const FINAL_SLOTS = 32;
const BLOCKHASH_LIFE = 150;
const FEE = 6_600n;

type Effect = { readonly mint: bigint; readonly memo: string | null };
type Landed = { readonly slot: number; readonly time: number; readonly effect: Effect };
type Change = { slot: number; lamports: bigint; supply: bigint };

/** The fault of one node: it is down, or shows the chain of this number of slots ago. */
export type NodeFault = { readonly down: boolean; readonly lagSlots: number };
export const HEALTHY: NodeFault = { down: false, lagSlots: 0 };

/** The result of a send: it lands this number of slots later, or it is lost. */
export type SendFate = { readonly landsAfter: number } | 'lost';

type ReserveNode = ReserveSources['nodes'][number];

export function createSolanaModel(p: {
  reserve: string;
  decimals: number;
  lamports: bigint;
  now: () => number;
  fate: () => SendFate;
}) {
  const { reserve, decimals, now } = p;
  const started = now();
  const landed = new Map<string, Landed>();
  const waiting = new Map<string, { slot: number; wire: string }>();
  const history: Change[] = [{ slot: 0, lamports: p.lamports, supply: 0n }];
  const listeners: ((landing: Landed & { signature: string }) => void)[] = [];

  const slotNow = (): number => Math.floor((now() - started) / SLOT_MS) + 1_000;
  const blockhashOf = (slot: number): string => {
    const bytes = new Uint8Array(32).fill(9);
    new DataView(bytes.buffer).setUint32(0, slot);
    return base58.encode(bytes);
  };
  const slotOf = (blockhash: string): number => new DataView(base58.decode(blockhash).buffer).getUint32(0);
  const latest = (): Change => history.at(-1) as Change;
  const at = (slot: number): Change =>
    history.findLast((change) => change.slot <= slot) ?? (history[0] as Change);

  /** What a transaction does. `own-messages.ts` checks the bytes of each of our messages. */
  function readEffect(wire: string): { effect: Effect; lastSlot: number } {
    const { messageBytes } = getTransactionDecoder().decode(base64.decode(wire));
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (message.version !== 0) throw new Error('not version 0');
    const dataOf = (program: string): Uint8Array => {
      const found = message.instructions.find(
        ({ programAddressIndex }) => message.staticAccounts[programAddressIndex] === program,
      );
      return new Uint8Array(found?.data ?? []);
    };
    const minted = dataOf(TOKEN_PROGRAM);
    const memo = new TextDecoder().decode(dataOf(LEGACY_MEMO_PROGRAM_ADDRESS_V3));
    const effect = { mint: new DataView(minted.buffer).getBigUint64(1, true), memo: memo || null };
    return { effect, lastSlot: slotOf(message.lifetimeToken) + BLOCKHASH_LIFE };
  }

  const signatureOf = (wire: string): string => base58.encode(base64.decode(wire).slice(1, 65));

  function land(signature: string, wire: string, slot: number): void {
    const { effect, lastSlot } = readEffect(wire);
    waiting.delete(signature);
    if (slot > lastSlot || landed.has(signature) || FEE > latest().lamports) return;
    history.push({ slot, lamports: latest().lamports - FEE, supply: latest().supply + effect.mint });
    const landing = { slot, time: Math.floor(now() / 1_000), effect };
    landed.set(signature, landing);
    for (const listener of listeners) listener({ ...landing, signature });
  }

  /** Lands the transactions that are due. */
  function advance(): void {
    for (const [signature, { slot, wire }] of waiting)
      if (slot <= slotNow()) land(signature, wire, slotNow());
  }

  const faults = new Map<string, NodeFault>();
  const names = ['rpc-1', 'rpc-2'];
  const finalSlot = (name: string): number =>
    slotNow() - FINAL_SLOTS - (faults.get(name) ?? HEALTHY).lagSlots;
  function askedNode(name: string): void {
    advance();
    if (faults.get(name)?.down) throw upstreamFailed(name, 'unreachable');
  }

  const nodes = names.map(
    (name): ReserveNode => ({
      name,
      async balance(_address, _commitment, minSlot) {
        askedNode(name);
        const slot = finalSlot(name);
        if (minSlot !== undefined && BigInt(slot) < minSlot) throw upstreamFailed(name, 'rpc_-32016');
        return { lamports: lamports(at(slot).lamports), slot: BigInt(slot) };
      },
      async latestBlockhash() {
        askedNode(name);
        const slot = finalSlot(name);
        return {
          blockhash: blockhashOf(slot),
          slot: BigInt(slot),
        };
      },
      async isBlockhashValid(blockhash) {
        askedNode(name);
        const slot = finalSlot(name);
        return { valid: slotOf(blockhash) <= slot, slot: BigInt(slot) };
      },
      async accounts() {
        askedNode(name);
        const slot = finalSlot(name);
        const data = getMintEncoder().encode({
          mintAuthority: some(address(reserve)),
          supply: at(slot).supply,
          decimals,
          isInitialized: true,
          freezeAuthority: none(),
        });
        const account = { owner: TOKEN_PROGRAM, lamports: 1_461_600n, data: new Uint8Array(data) };
        return { slot: BigInt(slot), accounts: [account] };
      },
    }),
  );

  async function first<T>(ask: (node: ReserveNode) => Promise<T>): Promise<T> {
    let failure: unknown;
    for (const node of nodes) {
      try {
        return await ask(node);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  /** The newest hash of the nodes that answer, which are its witnesses. */
  async function latestBlockhash(): Promise<Blockhash> {
    const up = names.filter((name) => !faults.get(name)?.down);
    if (up.length === 0) throw upstreamFailed('solana-rpc', 'no_node');
    const slot = Math.max(...up.map(finalSlot));
    const witnesses = up.map((node) => ({ node, slot: BigInt(slot), height: BigInt(slot) }));
    return { blockhash: blockhashOf(slot), slot: BigInt(slot), witnesses };
  }

  const chain: ChainPort = {
    quorum: 1,
    agreement: () => ({ ...AGREEMENT, nodes: names.length }),
    checkFinality: async () => undefined,
    memory: () => '',
    recall: () => undefined,
    balance: (minSlot) =>
      first((node) => node.balance(reserve, 'finalized', minSlot > 0n ? minSlot : undefined)),
    async send(wire) {
      advance();
      if (names.every((name) => faults.get(name)?.down)) return false;
      const fate = p.fate();
      const signature = signatureOf(wire);
      if (fate !== 'lost' && !waiting.has(signature))
        waiting.set(signature, { slot: slotNow() + fate.landsAfter, wire });
      return true;
    },
    async views(signing) {
      advance();
      return names.flatMap((name) => {
        if (faults.get(name)?.down) return [];
        const { lagSlots } = faults.get(name) ?? HEALTHY;
        const head = slotNow() - lagSlots;
        const found = landed.get(signing.signature);
        const commitment =
          found && found.slot <= finalSlot(name) ? ('finalized' as const) : ('confirmed' as const);
        return [
          {
            node: name,
            finalizedSlot: BigInt(finalSlot(name)),
            finalizedHeight: BigInt(finalSlot(name)),
            statusSlot: BigInt(head),
            status:
              found && found.slot <= head
                ? { slot: BigInt(found.slot), failed: false, commitment, charged: null }
                : null,
            firstAvailableSlot: 0n,
          },
        ];
      });
    },
    async landing(signature) {
      const found = landed.get(signature);
      if (!found) return null;
      return {
        slot: BigInt(found.slot),
        blockTime: found.time,
        fee: lamports(FEE),
        debit: lamports(FEE),
      };
    },
  };

  return {
    chain,
    nodes,
    latestBlockhash,
    setNode: (index: number, fault: NodeFault): void => void faults.set(names[index] ?? '', fault),
    topUp: (amount: bigint): void =>
      void history.push({ ...latest(), slot: slotNow(), lamports: latest().lamports + amount }),
    onLanded: (listener: (landing: Landed & { signature: string }) => void): void =>
      void listeners.push(listener),
    /** When the next sent transaction lands, in Unix milliseconds. */
    nextLanding(): number | undefined {
      const slots = [...waiting.values()].map(({ slot }) => slot);
      return slots.length === 0 ? undefined : started + (Math.min(...slots) - 1_000) * SLOT_MS;
    },
    advance,
  };
}

export type SolanaModel = ReturnType<typeof createSolanaModel>;
