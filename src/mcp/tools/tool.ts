import type { ToolAnnotations } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Input } from '../../../packages/client/src/index.ts';
import type { Api, JsonOperation } from '../api-client.ts';
import type { VerifyProof } from '../verify-proof.ts';

export type ToolContext = {
  readonly api: Api;
  readonly verifyProof: VerifyProof;
  readonly signal?: AbortSignal;
};

export type Answer = Readonly<Record<string, unknown>>;

export type Tool = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: Required<Omit<ToolAnnotations, 'title'>>;
  readonly input: z.ZodObject;
  readonly output: z.ZodObject;
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

export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};
/** Creates a record and moves no money. A repeat creates another one. */
export const CREATES = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};

/** The answer of an operation that only reads. */
export const read = async <Name extends JsonOperation>(
  name: Name,
  input: Input<Name>,
  { api, signal }: ToolContext,
): Promise<Answer> => ({ ...(await api.call(name, input, { signal })).value });

export const atoms = (unit: string) => z.string().describe(`The same in ${unit}, exact`);
export const freshness = {
  as_of: z.string().describe('When the figures were read from their sources, ISO 8601'),
  stale: z.boolean().describe('true when a source is unavailable and an older value is shown'),
};
/** Marks the answer of a dry run, which has no id and no status. */
export const dryRunMark = z
  .literal(true)
  .optional()
  .describe('Present on a dry run only: nothing was created');
