/**
 * Shared by all features' routers: typed dependencies, one shape for refused input, error answers in OpenAPI.
 * @module
 */
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { AppError, ERRORS, type ErrorCode } from '../core/errors.ts';
import { inCallerWords, valueAt, withGiven } from './caller-words.ts';

export type Variables<Deps> = { deps: Deps; requestId: string; errorCode?: string };
export type RouterEnv<Deps> = { Bindings: Env; Variables: Variables<Deps> };

/** Maximum issues in one answer, because a body may have thousands of invalid members. */
const MAX_ISSUES = 10;

/** The subject of an issue without a path. */
const WHOLE: Readonly<Record<string, string>> = { json: 'The body', query: 'The query' };

z.config({ customError: inCallerWords });

export const newRouter = <Deps>() =>
  new OpenAPIHono<RouterEnv<Deps>>({
    defaultHook: (result) => {
      if (result.success) return;
      // On a failure the validator passes its input on.
      const input: unknown = Reflect.get(result, 'data');
      const issues = result.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => ({
        in: result.target,
        path: path.join('.').slice(0, 100),
        message: withGiven(message.slice(0, 200), valueAt(input, path)),
      }));
      const first = issues[0];
      const where = first?.path || (/^(?:must|is) /.test(first?.message ?? '') ? WHOLE[result.target] : '');
      throw new AppError(
        'INVALID_INPUT',
        `${where} ${first?.message ?? 'The request is invalid.'}`.trimStart(),
        {
          details: { issues },
        },
      );
    },
  });

/**
 * The error answers of a route, grouped by status, with exactly the codes that it can send.
 * @param statuses of codes that this route sends with a different status than usual
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  statuses: Readonly<Partial<Record<ErrorCode, number>>> = {},
) {
  const byStatus = Map.groupBy(codes, (code) => statuses[code] ?? ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, sent]) => [
      status,
      { description: sent.join(', '), content: { 'application/json': { schema: problemSchema(sent) } } },
    ]),
  );
}

/** An object of the API document's components. */
export const component = <S extends z.ZodRawShape>(name: string, shape: S) => z.object(shape).openapi(name);

export const Problem = lazily(() =>
  component('Problem', {
    error_code: z.string().describe('Stable machine-readable code'),
    error: z.string().describe('What happened, for display'),
    action: z.string().optional().describe('What to do next'),
    request_id: z.string().describe('Same as the X-Request-Id header'),
    retryable: z.boolean().describe('Whether the same request can succeed later'),
    retry_after_s: z.int().optional().describe('Seconds to wait, same as Retry-After'),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("The details described by the code's meaning"),
  }),
);

/** As JSON Schema: it validates nothing, and every isolate would have to create a hundred zod schemas. */
export const problemSchema = (codes: readonly string[]) => ({
  allOf: [
    { $ref: '#/components/schemas/Problem' },
    { type: 'object' as const, properties: { error_code: { type: 'string' as const, enum: [...codes] } } },
  ],
});

/** The required JSON body of a route. */
export const jsonRequest = <S extends z.ZodType>(schema: S) => ({
  required: true as const,
  content: { 'application/json': { schema } },
});

/** Creates a value at its first use. Schemas of answers are created so, because only the API document uses them. */
export function lazily<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}

/** A JSON answer of a route. The Worker validates no answers, so it creates no schemas of them. */
export function jsonResponse<S extends z.ZodType>(schema: () => S, description: string) {
  const content = lazily(() => ({ 'application/json': { schema: schema() } }));
  return {
    description,
    get content() {
      return content();
    },
  };
}
