import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes settings as an operator has them, readable by their owner only. @returns the path of the file */
export function writeSettings(
  folder: string,
  name: string,
  settings: Readonly<Record<string, string | undefined>>,
): string {
  const file = join(folder, name);
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value ?? ''}\n`);
  writeFileSync(file, lines.join(''));
  chmodSync(file, 0o600);
  return file;
}
