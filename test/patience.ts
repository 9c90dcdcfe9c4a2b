/**
 * Milliseconds after which a test that hangs ends. No test depends on time: a busy machine may need most of it.
 */
export const PATIENCE_MS = 600_000;

/** For one wait inside a test: its failure names the missing event before the test itself times out. */
export const WAIT_MS = PATIENCE_MS / 2;
