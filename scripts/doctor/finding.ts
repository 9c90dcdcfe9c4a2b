/** A finding of the doctor: a stable name, the problem and its fix. Never a value of a secret. */
import { DECLARATIONS } from '../../src/config.ts';

export type Finding = {
  /** Stable; tests and scripts branch on it. */
  readonly name: string;
  /** A note names a disadvantage while nothing is broken; only problems set the exit code 1. */
  readonly level: 'problem' | 'note';
  readonly what: string;
  readonly fix: string;
};

type About = readonly [name: string, what: string, fix: string];

const finding =
  (level: Finding['level']) =>
  (...[name, what, fix]: About): Finding => ({ name, level, what, fix });
export const problem = finding('problem');
export const note = finding('note');

/** The problem as a list, which is empty unless the condition is met. */
export const problemIf = (isSo: boolean, ...about: About): Finding[] => (isSo ? [problem(...about)] : []);
export const noteIf = (isSo: boolean, ...about: About): Finding[] => (isSo ? [note(...about)] : []);

/** Variables from a file or the environment, by name. */
export type Settings = Readonly<Record<string, string>>;

/** The value of a setting, unless it is empty. */
export const given = (settings: Settings, name: string): string | undefined => settings[name] || undefined;

/** Whether the settings are those of a service on this machine, such as the offline world. */
export function isLocalService(settings: Settings): boolean {
  const origin = settings.PUBLIC_BASE_URL ?? '';
  return URL.canParse(origin) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(origin).hostname);
}

/** Names whose values are never shown. */
export const SECRETS: readonly string[] = DECLARATIONS.flatMap(([name, { secret }]) =>
  secret ? [name] : [],
);

/** URLs may contain a key in their path or query, so only the host is shown. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'no URL');

/** Removes every secret from a text, regardless of its source. */
export function hideSecrets(text: string, settings: Settings): string {
  const values = [
    ...SECRETS.map((name) => settings[name]),
    // A node's URL often contains its password.
    ...[settings.SOLANA_RPC_URL, settings.SOLANA_READ_RPC_URL]
      .flatMap((urls) => (urls ?? '').split(','))
      .map((url) => (URL.canParse(url) ? pathOf(url) : undefined)),
  ];
  return values
    .filter((value): value is string => value !== undefined && value.length >= 6)
    .sort((a, b) => b.length - a.length)
    .reduce((hidden, value) => hidden.replaceAll(value, '[hidden]'), text);
}

const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`.replace(/^\//, '');
};
