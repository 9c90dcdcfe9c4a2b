/**
 * The System program: its address, and the instruction data of the two instructions that simulations report.
 * @see https://docs.solanalabs.com/runtime/programs#system-program
 * @module
 */
import { address } from '@solana/web3.js';
import {
  getCreateAccountInstructionDataEncoder,
  getTransferSolInstructionDataEncoder,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system';

export const SYSTEM_PROGRAM: string = SYSTEM_PROGRAM_ADDRESS;

/** @throws Error when the amount is not a u64 */
export const systemTransferData = (lamports: bigint): Uint8Array =>
  new Uint8Array(getTransferSolInstructionDataEncoder().encode({ amount: lamports }));

/** @throws Error when a number is not a u64 or the owner not an address */
export const createAccountData = (p: { lamports: bigint; space: bigint; owner: string }): Uint8Array =>
  new Uint8Array(getCreateAccountInstructionDataEncoder().encode({ ...p, programAddress: address(p.owner) }));
