/** Messages of the world to the process that runs the Worker. */
export type ToWorkerProcess = { readonly type: 'start'; readonly setup: WorkerSetup };

/** The responses of that process. `insideUrl` is the address of the helper next to the Worker. */
export type FromWorkerProcess =
  | {
      readonly type: 'ready';
      readonly url: string;
      readonly insideUrl: string;
      readonly witnessUrl: string | null;
      readonly crons: readonly string[];
    }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'log'; readonly line: string };

/** Requests to the helper: `POST /scheduled`, `POST /query` and `POST /pageViews`. */
export interface InsideCalls {
  readonly scheduled: { readonly cron: string; readonly time: number };
  readonly query: { readonly sql: string; readonly params: readonly unknown[] };
  readonly pageViews: { readonly sql: string };
  readonly evict: Record<string, never>;
}

export interface WorkerFiles {
  readonly configPath: string;
  /** JSON file with the options of the configuration and the schema; if absent, they are read from their sources. */
  readonly optionsPath?: string;
  readonly bundlePath: string;
}

export interface WorkerSetup extends WorkerFiles {
  /** Bundle of the custodian's object if it runs another release, as it may for minutes after a deployment. */
  readonly objectBundlePath?: string;
  /** Schema that is applied to D1 if the file exists. */
  readonly schemaPath: string;
  /** Statements for D1 instead of that file. */
  readonly schema?: readonly string[];
  /** Folder of D1, KV and Durable Object storage; survives a killed process. */
  readonly storagePath: string;
  /** Folder of the site; absent to use the configuration's. */
  readonly sitePath?: string;
  /** Where the process may leave temporary files when it is killed. */
  readonly tempPath: string;
  readonly bindings: Readonly<Record<string, string>>;
  /** The witness's Worker; absent where the reserve mints alone. */
  readonly witness?: WorkerFiles & { readonly bindings: Readonly<Record<string, string>> };
  /** The MCP server's Worker; absent where the world has none. */
  readonly mcp?: WorkerFiles & { readonly bindings: Readonly<Record<string, string>> };
}
