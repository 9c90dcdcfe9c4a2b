/**
 * The Solana chain as the custodian sees it: many nodes, each with its own view.
 * @module
 */
import { lamportsChange } from '../../chain/solana/balance-change.ts';
import { lamports } from '../../core/amount.ts';
import { upstreamFailed } from '../../core/errors.ts';
import {
  type ChainTransaction,
  isAlreadyProcessed,
  isUnsupportedVersion,
  type SolanaNode,
  type SolanaRpc,
  type TokenRow,
} from '../../providers/solana-rpc.ts';
import type { Landing, Signing } from './operation.ts';
import type { Balance } from './spending-limits.ts';
import type { NodeView } from './state-machine.ts';

export type ChainPort = {
  /** Finalized balance of the reserve, not older than a slot. @throws when no node is that far */
  balance(minSlot: bigint): Promise<Balance>;
  /** Sends to every node; true when one of them took it. */
  send(wire: string): Promise<boolean>;
  /** Each node's view; nodes that fail are left out. */
  views(signing: Signing): Promise<NodeView[]>;
  /** The finalized transaction as it changed the reserve, or null while no node has it. */
  landing(signature: string): Promise<Landing | null>;
};

export function createChainPort(rpc: SolanaRpc, reserveAddress: string): ChainPort {
  return {
    async balance(minSlot) {
      return rpc.first(async (node) => {
        const balance = await node.balance(reserveAddress, 'finalized', minSlot > 0n ? minSlot : undefined);
        if (balance.slot < minSlot) throw upstreamFailed(node.name, 'behind');
        return balance;
      });
    },

    async send(wire) {
      const answers = await Promise.allSettled(rpc.nodes.map((node) => node.send(wire)));
      return answers.some((answer) => answer.status === 'fulfilled' || isAlreadyProcessed(answer.reason));
    },

    async views(signing) {
      const answers = await Promise.allSettled(rpc.nodes.map((node) => viewOf(node, signing)));
      return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    },

    async landing(signature) {
      for (const node of rpc.nodes) {
        const found = await node.transaction(signature, 'finalized').catch(() => null);
        // A node that gives another transaction, or one that contradicts the finalized status, has not given it.
        if (!found || found.failed || found.signature !== signature) continue;
        const change = lamportsChange(found, reserveAddress);
        if (change === undefined) continue;
        const { slot, blockTime, fee } = found;
        const tokens = hasMovedTokens(found, reserveAddress) ? { movesTokens: true } : {};
        return { slot, blockTime, fee: lamports(fee), debit: lamports(-change), ...tokens };
      }
      return null;
    },
  };
}

function hasMovedTokens({ preTokens, postTokens }: ChainTransaction, owner: string): boolean {
  const held = (rows: readonly TokenRow[] | null) =>
    (rows ?? []).filter((row) => row.owner === owner).map(({ account, atoms }) => `${account} ${atoms}`);
  const before = held(preTokens);
  const after = held(postTokens);
  return before.length !== after.length || before.some((row) => !after.includes(row));
}

/**
 * The value, or `unreadable` for a transaction of a version that we cannot read. Anybody can send one to our addresses,
 * and we never sign one, so every search skips it: it must not block what comes after it.
 */
export async function orUnreadable<T>(read: Promise<T>): Promise<T | 'unreadable'> {
  try {
    return await read;
  } catch (error) {
    if (isUnsupportedVersion(error)) return 'unreadable';
    throw error;
  }
}

/** The order matters: heights first, then the status, so that the status cannot be older than the height. */
async function viewOf(node: SolanaNode, signing: Signing): Promise<NodeView> {
  const { slot, blockHeight } = await node.epochInfo('finalized');
  const { slot: statusSlot, status } = await node.signatureStatus(signing.signature);
  const past = status === null && blockHeight > signing.lastValidBlockHeight;
  return {
    node: node.name,
    finalizedSlot: slot,
    finalizedHeight: blockHeight,
    statusSlot,
    status: status && { slot: status.slot, failed: status.err !== null, commitment: status.commitment },
    firstAvailableSlot: past ? await node.firstAvailableBlock() : null,
  };
}
