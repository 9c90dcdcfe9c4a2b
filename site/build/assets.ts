/**
 * The build's additions to each page: the addresses of the hashed files that Vite has written, and the
 * origin.
 */
export type Assets = {
  /** Origin of absolute links, which previews of a link need; empty if the build was given none. */
  readonly origin: string;
  readonly style: string;
  readonly font: string;
  readonly scripts: Readonly<Record<string, Script>>;
};
export type Script = { readonly file: string; readonly imports: readonly string[] };
