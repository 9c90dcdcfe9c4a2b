export type Shape = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'anything';

const isOf = (value: unknown, shape: Shape): boolean => {
  switch (shape) {
    case 'anything':
      return value !== undefined;
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === shape;
  }
};

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
    .filter((value) => !(isOf(value, shape) || (nullable && value === null)))
    .map((value) => `${path}: ${JSON.stringify(value)} is not ${shape}${nullable ? ' or null' : ''}`);
}
