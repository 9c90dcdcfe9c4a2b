/**
 * Arguments of scripts.
 * @module
 */

/** A whole number from 1 to `most`. @throws Error that names the option */
export function wholeNumber(option: string, text: string, most: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) throw new Error(`${option} ${text} is not a whole number from 1 to ${most}`);
  return value;
}

/** Prints the error and the usage, and ends the process with code 2. */
export function fail(error: unknown, usage: string): never {
  console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  process.exit(2);
}
