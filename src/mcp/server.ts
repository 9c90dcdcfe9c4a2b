/**
 * The MCP server over the tool table, for clients of the 2025 and the 2026 protocol alike.
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28
 */
import { type CallToolResult, McpServer, type StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Api } from './api-client.ts';
import { canonical } from './arguments.ts';
import { type Failure, invalidArguments, ToolFailure } from './failure.ts';
import { TOOLS, type Tool } from './tools.ts';

/** The version of the API that the tools speak. */
export const VERSION = '1.1.0';

const INSTRUCTIONS = `Tools of Sluice, a Bitcoin reserve funded from Solana. To swap reserve SOL into BTC: swap_min for the bounds, swap_estimate for the
price, swap_create with dry_run true, the same without dry_run once the user agrees, then swap_status until it is not waiting.
When a call fails, follow next_step of the error. Never call swap_create again because an answer was lost without passing the same
idempotencyKey.`;

/**
 * Publishes a schema and lets every value through: the tool checks its arguments itself, so that a wrong one leaves as an
 * error of the same shape as any other, and under other names too.
 */
const published = (schema: z.ZodObject): StandardSchemaWithJSON<unknown, unknown> => {
  const json = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return {
    '~standard': {
      version: 1,
      vendor: 'sluice',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
};

export function createServer(api: Api): McpServer {
  const server = new McpServer(
    { name: 'sluice', title: 'Sluice', version: VERSION },
    { capabilities: { tools: { listChanged: false } }, instructions: INSTRUCTIONS },
  );
  for (const tool of TOOLS) {
    const { name, title, description, annotations, input, output } = tool;
    server.registerTool(
      name,
      {
        title,
        description,
        annotations: { title, ...annotations },
        inputSchema: published(input),
        outputSchema: output,
      },
      (given, { mcpReq }) => callTool(tool, given, { api, signal: mcpReq.signal }),
    );
  }
  return server;
}

/** Never throws: a failure that the model does not see cannot be repaired by it. */
export async function callTool(
  tool: Tool,
  given: unknown,
  context: { readonly api: Api; readonly signal?: AbortSignal },
): Promise<CallToolResult> {
  try {
    const checked = tool.input.safeParse(canonical(given ?? {}));
    if (!checked.success) throw refusal(tool, checked.error);
    const answered = await tool.run(canonical(given ?? {}), context);
    const answer = tool.output.safeParse(answered);
    if (!answer.success)
      throw unexpected('The service answered in a shape that this server does not know.', answered);
    return { content: [{ type: 'text', text: JSON.stringify(answer.data) }], structuredContent: answer.data };
  } catch (error) {
    return errorResult(
      error instanceof ToolFailure
        ? error.failure
        : unexpected('Something unexpected happened here.').failure,
    );
  }
}

const errorResult = (failure: Failure): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify(failure) }],
});

/** @param answered of a creation it holds the key, without which its outcome could not be asked for */
function unexpected(error: string, answered: Readonly<Record<string, unknown>> = {}): ToolFailure {
  const { idempotencyKey: key } = answered;
  const look = 'Tell the user; for a swap_create, look with';
  return new ToolFailure({
    error_code: 'UNEXPECTED',
    error,
    action: 'report_request_id',
    retryable: false,
    ...(typeof key === 'string'
      ? {
          idempotencyKey: key,
          next_step: `${look} idempotencyKey "${key}" or swap_status before anything else.`,
        }
      : { next_step: `${look} the same idempotencyKey or swap_status before anything else.` }),
  });
}

function refusal(tool: Tool, { issues }: z.ZodError): ToolFailure {
  const said = issues
    .slice(0, 5)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  const names = Object.entries(tool.input.shape).map(
    ([name, field]) => `${name}${field instanceof z.ZodOptional ? ' (optional)' : ''}`,
  );
  const example = EXAMPLES[tool.name];
  const takes = names.length > 0 ? `takes ${names.join(', ')}` : 'takes no arguments';
  return invalidArguments(
    said.join('; '),
    `Call ${tool.name} again: it ${takes}${example ? `, for example ${JSON.stringify(example)}` : ''}.`,
  );
}

const EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  swap_estimate: { amountSol: 0.5 },
  swap_create: { amountSol: 0.5, dry_run: true },
  swap_status: { id: 'the id that swap_create answered' },
};
