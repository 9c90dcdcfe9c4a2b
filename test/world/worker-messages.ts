/** What the world tells the process that runs the Worker. */
export type ToWorkerProcess =
  | { readonly type: 'start'; readonly setup: WorkerSetup }
  | { readonly type: 'scheduled'; readonly id: number; readonly cron: string; readonly time: number }
  | {
      readonly type: 'query';
      readonly id: number;
      readonly sql: string;
      readonly params: readonly unknown[];
    };

/** What that process answers. */
export type FromWorkerProcess =
  | { readonly type: 'ready'; readonly url: string; readonly crons: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string }
  | { readonly type: 'log'; readonly line: string }
  | { readonly type: 'done'; readonly id: number; readonly value?: unknown; readonly reason?: string };

export interface WorkerSetup {
  readonly configPath: string;
  readonly bundlePath: string;
  /** Applied to D1 where the file exists. */
  readonly schemaPath: string;
  /** Folder of D1, KV and Durable Object storage; survives a killed process. */
  readonly storagePath: string;
  /** Folder of the site; absent where the configuration's is meant. */
  readonly sitePath?: string;
  /** Where the process may leave temporary files when it is killed. */
  readonly tempPath: string;
  readonly bindings: Readonly<Record<string, string>>;
}
