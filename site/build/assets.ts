/** Addresses of the hashed files that Vite has written. */
export type Assets = {
  readonly style: string;
  readonly font: string;
  readonly scripts: Readonly<Record<string, Script>>;
};
export type Script = { readonly file: string; readonly imports: readonly string[] };
