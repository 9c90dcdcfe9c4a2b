/** What the build made: addresses of hashed files. */
export type Assets = { readonly style: string; readonly scripts: Readonly<Record<string, Script>> };
export type Script = { readonly file: string; readonly imports: readonly string[] };
