/** What an operator's command answers: one line for people, then tables, then text that is used as it stands. */
export type OpsRow = Readonly<Record<string, string | number | null>>;

export type OpsReport = {
  readonly ok: boolean;
  readonly message: string;
  readonly rows?: readonly OpsRow[];
  readonly tables?: readonly { readonly title: string; readonly rows: readonly OpsRow[] }[];
  /** To be taken byte for byte, as the text that is signed elsewhere. */
  readonly text?: string;
};
