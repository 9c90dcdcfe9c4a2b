/**
 * The recorded request of an operation as values of its parameters, and as a call of the MCP tool that makes it.
 * @module
 */
import { TOOLS } from '../../src/mcp/tools/all-tools.ts';

export type Values = Readonly<Record<string, string>>;
export type ToolCall = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };

/** The values of the parameters in a recorded path, such as `id` of `/api/tokens/{id}` in `/api/tokens/1`. */
export function valuesIn(template: string, recorded: string): Values {
  const { pathname, searchParams } = new URL(recorded, 'https://recorded.invalid');
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const pattern = template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]+)');
  const found = new RegExp(`^${pattern}$`).exec(pathname) ?? [];
  const inPath = names.flatMap((name, at) => {
    const value = found[at + 1];
    return value === undefined ? [] : [[name, decodeURIComponent(value)] as const];
  });
  return { ...Object.fromEntries(searchParams), ...Object.fromEntries(inPath) };
}

/** The tool of an operation. Every input of the operation has the same name in the tool, except those listed. */
const TOOL_OF: Readonly<Record<string, readonly [tool: string, renamed?: Values]>> = {
  getReserves: ['get_reserves'],
  getSwapMinimum: ['swap_min'],
  getSwapEstimate: ['swap_estimate'],
  createSwap: ['swap_create'],
  getSwapStatus: ['swap_status'],
  getProof: ['verify_reserve_proof'],
  searchTokens: ['token_search', { q: 'query' }],
  getToken: ['token_get'],
  createInvoice: ['token_invoice_create'],
  getInvoice: ['token_invoice_status', { id: 'invoice_id' }],
  claimFromDeposit: ['asry_claim'],
  getAsryClaim: ['asry_claim_status', { signature: 'depositTxSignature' }],
  getAsryEpoch: ['asry_epoch'],
  getExchangeMinimum: ['exchange_min'],
  getExchangeEstimate: ['exchange_estimate'],
  createExchange: ['exchange_create'],
  getExchangeStatus: ['exchange_status'],
  getPool: ['pool_get'],
  getStatus: ['service_status'],
};

/**
 * @returns null for an operation without a tool
 * @throws Error when the tool would refuse the recorded input
 */
export function toolCallOf(operation: string, values: Values, body: unknown): ToolCall | null {
  const [name, renamed = {}] = TOOL_OF[operation] ?? [];
  if (name === undefined) return null;
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  const sent = { ...values, ...(typeof body === 'object' ? body : {}) };
  const given = Object.fromEntries(Object.entries(sent).map(([key, value]) => [renamed[key] ?? key, value]));
  const taken = tool.input.safeParse(given);
  if (!taken.success) throw new Error(`${name} refuses ${JSON.stringify(given)}: ${taken.error.message}`);
  return { name, arguments: given };
}
