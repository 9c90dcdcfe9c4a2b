import * as z from 'zod';

const SHAPES = {
  ...{ string: z.string(), number: z.number(), integer: z.int(), boolean: z.boolean() },
  object: z.record(z.string(), z.unknown()),
  array: z.array(z.unknown()),
  anything: z.unknown().refine((value) => value !== undefined),
} as const;
export type Shape = keyof typeof SHAPES;

/**
 * The values at a path of a body: `bitcoin.address`, or `transactions[].txid` for one of every entry. A member that is
 * missing is undefined.
 */
export function valuesAt(body: unknown, path: string): unknown[] {
  let values = [body];
  for (const step of path.split('.')) {
    const name = step.replace('[]', '');
    values = values.map((value) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
    );
    if (step.endsWith('[]')) values = values.flatMap((value) => (Array.isArray(value) ? value : [undefined]));
  }
  return values;
}

/** The faults of the values at a path; empty if there is at least one value and all have the shape. */
export function shapeFaults(body: unknown, path: string, shape: Shape, nullable: boolean): string[] {
  const values = valuesAt(body, path);
  if (values.length === 0) return [`${path}: no entry to check`];
  return values
    .filter((value) => !(SHAPES[shape].safeParse(value).success || (nullable && value === null)))
    .map((value) => `${path}: ${JSON.stringify(value)} is not ${shape}${nullable ? ' or null' : ''}`);
}
