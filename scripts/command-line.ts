/**
 * Arguments of the scripts. A script refuses unknown arguments with its usage and exit code 2, before any
 * work.
 * @module
 */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError for an unknown option, an option without a value, or too many words */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
  maxWords = 0,
) {
  try {
    const read = parseArgs({ args: [...args], options, allowPositionals: maxWords > 0 });
    const extra = read.positionals[maxWords];
    if (extra === undefined) return read;
    throw new Error(`Unexpected argument '${extra}'`);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** @throws UsageError unless the text is decimal digits and within the bounds */
export function wholeNumber(name: string, text: string, { min = 0, max = 1_000_000_000 } = {}): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be a whole number from ${min} to ${max}, not '${text}'`);
}

/** @throws UsageError unless the text is one of the names */
export function oneOf<Name extends string>(option: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text);
  if (found !== undefined) return found;
  throw new UsageError(`${option} must be one of ${names.join(', ')}, not '${text}'`);
}

/** @throws UsageError unless the text is an http or https URL */
export function httpUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new UsageError(`${option} must be an http or https URL, not '${text}'`);
}

/**
 * Returns the result of `read`; after a UsageError prints the usage on stderr and exits with 2. `--help`
 * prints the usage and exits with 0.
 */
export function argumentsOrUsage<T>(usage: string, read: (args: readonly string[]) => T): T {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return read(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n${usage}`);
    process.exit(2);
  }
}

/** The first line of an error's message, without the stack. */
export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n').find((line) => line.trim() !== '') ?? 'failed without a message';
}

/**
 * Creates a file that only its owner can read. After a failure the file is removed, because a partial file would look
 * complete.
 */
export async function createFile<T>(
  path: string,
  fill: (append: (text: string) => void) => T | Promise<T>,
): Promise<T> {
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  const append = (text: string): void => {
    try {
      appendFileSync(path, text);
    } catch (error) {
      throw new Error(`${path} cannot be written: ${oneLine(error)}`);
    }
  };
  try {
    return await fill(append);
  } catch (error) {
    rmSync(path);
    throw error;
  }
}
