/**
 * The types of the contract's field tables, checked on real answers. A field that the contract does not name may be
 * there as well; one that it names must be, with its type, and null only where the table says so.
 */
export type Shape =
  | 'string'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'object'
  | { readonly orNull: Shape }
  | { readonly oneOf: readonly unknown[] }
  | { readonly listOf: Shape }
  | { readonly fields: Readonly<Record<string, Shape>> };

export const orNull = (shape: Shape): Shape => ({ orNull: shape });
export const oneOf = (...values: unknown[]): Shape => ({ oneOf: values });
export const listOf = (shape: Shape): Shape => ({ listOf: shape });
export const fields = (members: Readonly<Record<string, Shape>>): Shape => ({ fields: members });

/** What is wrong with a value, by path; empty when nothing is. */
export function faults(value: unknown, shape: Shape, path = 'body'): string[] {
  const wrong = (expected: string): string[] => [
    `${path} is ${JSON.stringify(value)?.slice(0, 80)}, not ${expected}`,
  ];
  if (typeof shape === 'string') {
    const ok =
      shape === 'integer'
        ? Number.isSafeInteger(value)
        : shape === 'object'
          ? typeof value === 'object' && value !== null && !Array.isArray(value)
          : typeof value === shape && (shape !== 'number' || Number.isFinite(value));
    return ok ? [] : wrong(shape);
  }
  if ('orNull' in shape) return value === null ? [] : faults(value, shape.orNull, path);
  if ('oneOf' in shape)
    return shape.oneOf.includes(value) ? [] : wrong(`one of ${JSON.stringify(shape.oneOf)}`);
  if ('listOf' in shape) {
    if (!Array.isArray(value)) return wrong('a list');
    return value.flatMap((member, index) => faults(member, shape.listOf, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return wrong('an object');
  return Object.entries(shape.fields).flatMap(([name, member]) =>
    name in value
      ? faults(Reflect.get(value, name), member, `${path}.${name}`)
      : [`${path}.${name} is missing`],
  );
}
