/** First major version of Node whose npm prints no engine warning here. */
const SUPPORTED_MAJOR = 22;

/**
 * A note if npm itself runs on an older Node than `engines` requires. `npm ci` hides the warnings of the
 * packages, because the project's own Node runs everything.
 * @param userAgent the value of `npm_config_user_agent`, such as `npm/11.19.1 node/v20.20.2 linux x64`
 */
export function nodeNote(userAgent: string | undefined, running: string): string | null {
  const [, version, major] = /\bnode\/(v(\d+)\.\S+)/.exec(userAgent ?? '') ?? [];
  if (version === undefined || Number(major) >= SUPPORTED_MAJOR) return null;
  return `npm runs on Node ${version}, which is older than package.json asks for; Sluice runs on the project's own Node ${running}.`;
}
