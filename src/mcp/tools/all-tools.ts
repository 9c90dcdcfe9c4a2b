import { ASRY_TOOLS } from './asry-tools.ts';
import { EXCHANGE_TOOLS } from './exchange-tools.ts';
import { getReserves, SERVICE_TOOLS, verifyReserveProof } from './reserve-tools.ts';
import { SWAP_TOOLS } from './swap-tools.ts';
import { TOKEN_TOOLS } from './token-tools.ts';
import type { Tool } from './tool.ts';

/**
 * The tools in the order of `tools/list`; the five of the API contract come first. Tools never hold keys; each calls
 * the public API.
 */
export const TOOLS: readonly Tool[] = [
  getReserves,
  ...SWAP_TOOLS,
  verifyReserveProof,
  ...TOKEN_TOOLS,
  ...ASRY_TOOLS,
  ...EXCHANGE_TOOLS,
  ...SERVICE_TOOLS,
];
