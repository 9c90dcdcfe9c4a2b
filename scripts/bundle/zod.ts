/**
 * The members of zod that the Worker uses. `@hono/zod-openapi` passes zod on as one object, from which a
 * bundler can remove nothing: error texts in fifty languages, the schema compiler and the JSON Schema reader
 * would be deployed. wrangler.toml substitutes this module for zod; tests compare it with zod's own members
 * and with their use in the source.
 * @module
 */
export {
  array,
  base64,
  boolean,
  config,
  enum,
  instanceof,
  int,
  literal,
  looseObject,
  NEVER,
  null,
  number,
  object,
  record,
  strictObject,
  string,
  tuple,
  undefined,
  union,
  unknown,
  url,
  uuid,
  ZodType,
} from '../../node_modules/zod/index.js';
export * as z from './zod.ts';

import { date, datetime } from '../../node_modules/zod/v4/classic/iso.js';

export const iso = { date, datetime };
