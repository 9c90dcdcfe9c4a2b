/** The answer to an operator's command: one line of text, then tables, then text that is used unchanged. */
export type OpsRow = Readonly<Record<string, string | number | null>>;

export type OpsReport = {
  readonly ok: boolean;
  readonly message: string;
  readonly rows?: readonly OpsRow[];
  readonly tables?: readonly { readonly title: string; readonly rows: readonly OpsRow[] }[];
  /** To be copied exactly, as the text that is signed elsewhere. */
  readonly text?: string;
};
