/**
 * The build's additions to each page: the addresses of the hashed files that Vite has written, and the
 * origin.
 */
export type Assets = {
  /** Origin of absolute links, which previews of a link need; empty if the build was given none. */
  readonly origin: string;
  readonly release: Release;
  /** Whether the offline world serves the pages: its chains, coins and prices are simulated. */
  readonly isDemonstration: boolean;
  readonly style: string;
  readonly font: string;
  readonly scripts: Readonly<Record<string, Script>>;
};
export type Script = { readonly file: string; readonly imports: readonly string[] };

/** What the footer says about the running code. */
export type Release = {
  readonly version: string;
  /** Null when built outside a repository; ends in `-dirty` if files had been changed. */
  readonly commit: string | null;
  /** The web address of the repository. */
  readonly source: string;
};
