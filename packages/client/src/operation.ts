/**
 * The properties of an operation that the client uses.
 * @module
 */

/** `Input`, `Value` and `Code` exist for the compiler only. */
export type Operation<Input, Value, Code extends string, Method extends 'GET' | 'POST' = 'GET' | 'POST'> = {
  readonly method: Method;
  readonly path: string;
  /** It takes an Idempotency-Key, and its response has this member. */
  readonly once?: string;
  /** Members of its body that are amounts: `0.5`, `"0.5"` and `"0.50"` are one request. */
  readonly amounts?: readonly string[];
  /** It takes `Prefer: wait`. */
  readonly waits?: true;
  /** It confirms what exists, so a repeat creates nothing. */
  readonly confirms?: true;
  /** It returns text instead of JSON. */
  readonly text?: true;
  /** Never set. */
  readonly types?: { readonly input: Input; readonly value: Value; readonly code: Code };
};

type Flags = Pick<Operation<unknown, unknown, string>, 'once' | 'amounts' | 'waits' | 'confirms' | 'text'>;

export const get = <Input, Value, Code extends string>(
  path: string,
  flags?: Flags,
): Operation<Input, Value, Code, 'GET'> => ({ method: 'GET', path, ...flags });

export const post = <Input, Value, Code extends string>(
  path: string,
  flags?: Flags,
): Operation<Input, Value, Code, 'POST'> => ({ method: 'POST', path, ...flags });
