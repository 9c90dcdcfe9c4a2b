import type { ToolAnnotations } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Input, UntilOptions } from '../../../packages/client/src/index.ts';
import type { Api, JsonOperation } from '../api-client.ts';
import type { RecentResults } from '../recent-results.ts';
import type { VerifyProof } from '../verify-proof.ts';

export type ToolContext = {
  readonly api: Api;
  readonly verifyProof: VerifyProof;
  readonly recent: RecentResults;
  readonly signal?: AbortSignal;
  /** Shows a state to the client while the call waits; absent if the client has not asked for it. */
  readonly progress?: (message: string) => void;
};

export type Answer = Readonly<Record<string, unknown>>;

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly input: z.ZodObject;
  /** Only the tools of the contract publish and check an output, because the size of `tools/list` is limited. */
  readonly output?: z.ZodObject;
  /** Arguments of a correct call, shown when arguments are refused. */
  readonly example?: Answer;
  run(input: unknown, context: ToolContext): Promise<Answer>;
};

/** Derives the type of `run`'s input from the schema. */
export function tool<I extends z.ZodObject>(
  definition: Omit<Tool, 'input' | 'run'> & {
    readonly input: I;
    run(input: z.output<I>, context: ToolContext): Promise<Answer>;
  },
): Tool {
  const { input, run } = definition;
  return { ...definition, run: (given, context) => run(input.parse(given), context) };
}

/** The other hints do not apply to read-only tools. */
export const READS: ToolAnnotations = { readOnlyHint: true };
/** Creates a record without moving money. A repeated call may create another record. */
export const CREATES: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

/** The response of an operation that only reads. */
export const read = async <Name extends JsonOperation>(
  name: Name,
  input: Input<Name>,
  { api, signal }: ToolContext,
): Promise<Answer> => ({ ...(await api.call(name, input, { signal })).value });

/** Maximum wait of a tool. A host waits about 60 s for a tool. */
const MAX_WAIT_SECONDS = 50;
const WAIT_SECONDS = 45;

export const waitSeconds = z
  .int()
  .min(0)
  .max(MAX_WAIT_SECONDS)
  .optional()
  .describe(`${WAIT_SECONDS} when absent; 0 returns the state at once`);

/** Shows each state that is read while a tool waits. */
export const waiting = (
  { signal, progress }: ToolContext,
  seconds: number = WAIT_SECONDS,
): UntilOptions<{ readonly status: string; readonly detail: string }> => ({
  timeoutMs: seconds * 1_000,
  onState: ({ status, detail }) => progress?.(`${status}: ${detail}`),
  ...(signal && { signal }),
});

export const freshness = {
  as_of: z.string().describe('When the figures were read'),
  stale: z.boolean().describe('true when an older value is shown'),
};
