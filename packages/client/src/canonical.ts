/**
 * One form for equal inputs: the key of an order depends neither on the order of its members nor on the notation of
 * its amounts.
 * @module
 */

export type Body = Readonly<Record<string, unknown>>;

/** Members sorted by name, without absent ones; amounts as plain decimal text. */
export function canonical(input: Body, amounts: readonly string[] = []): Body {
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => value !== undefined && value !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, amounts.includes(name) ? decimal(value) : value]),
  );
}

const WRITTEN = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d{1,3}))?$/i;

/** `5e-1` and `0.50` are `0.5`. Anything else is left to the service, which refuses it. */
function decimal(value: unknown): unknown {
  const [, whole, fraction = '', exponent = '0'] = WRITTEN.exec(String(value).trim()) ?? [];
  if (whole === undefined) return value;
  const point = whole.length + Number(exponent);
  const zeros = Math.max(0, 1 - point);
  const digits = ('0'.repeat(zeros) + whole + fraction).padEnd(point, '0');
  const text = `${digits.slice(0, point + zeros)}.${digits.slice(point + zeros)}`;
  return text.replace(/^0+(?=\d)/, '').replace(/\.?0*$/, '');
}
