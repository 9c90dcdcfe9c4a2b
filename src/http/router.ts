/**
 * Shared by all features' routers: typed dependencies, one shape for refused input, error responses in OpenAPI.
 * @module
 */
import { OpenAPIHono, z } from '@hono/zod-openapi';
import { AppError } from '../core/errors.ts';
import { validationMessage, valueAt, withGiven } from './validation-messages.ts';

export type Variables<Deps> = { deps: Deps; requestId: string; errorCode?: string };
export type RouterEnv<Deps> = { Bindings: Env; Variables: Variables<Deps> };

/** Maximum issues in one response, because a body may have thousands of invalid members. */
const MAX_ISSUES = 10;

/** The subject of an issue without a path. */
const WHOLE: Readonly<Record<string, string>> = { json: 'The body', query: 'The query' };

z.config({ customError: validationMessage });

export const newRouter = <Deps>() =>
  new OpenAPIHono<RouterEnv<Deps>>({
    defaultHook: (result) => {
      if (result.success) return;
      // After a failed validation, `data` is the validator's input.
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

/** An object of the API document's components. */
export const component = <S extends z.ZodRawShape>(name: string, shape: S) => z.object(shape).openapi(name);

export const jsonRequest = <S extends z.ZodType>(schema: S) => ({
  required: true as const,
  content: { 'application/json': { schema } },
});
