import { useEffect, useState } from 'hono/jsx';
import { call } from '../api/call.ts';
import { useAttempt } from '../api/use-attempt.ts';
import {
  claudeCodeCommand,
  curlLines,
  mcpServersJson,
  UNKNOWN_ORIGIN,
  vsCodeJson,
} from './agent-snippets.ts';
import { CopyBlock } from './copyable.tsx';
import { Failed, Waiting } from './notice.tsx';

function useOrigin(): string {
  const [origin, setOrigin] = useState(UNKNOWN_ORIGIN);
  useEffect(() => setOrigin(location.origin), []);
  return origin;
}

export function McpSnippets() {
  const origin = useOrigin();
  return (
    <div class="stack">
      <h3>Claude Desktop, Cursor, Windsurf, Gemini CLI, Cline</h3>
      <CopyBlock label="the MCP configuration" text={mcpServersJson(origin)} />
      <h3>Claude Code</h3>
      <CopyBlock label="the command for Claude Code" text={claudeCodeCommand(origin)} />
      <h3>VS Code</h3>
      <CopyBlock label="the configuration for VS Code" text={vsCodeJson(origin)} />
    </div>
  );
}

export function CurlSnippets() {
  const origin = useOrigin();
  return (
    <div class="stack">
      {curlLines(origin).map(({ name, text }) => (
        <>
          <h3>{name}</h3>
          <CopyBlock label={name} text={text} />
        </>
      ))}
    </div>
  );
}

const CALLS = [
  ['/api/reserves', 'get_reserves'],
  ['/api/swap/min', 'swap_min'],
  ['/api/swap/estimate?amountSol=0.5', 'swap_estimate'],
] as const;

/** The read-only tools, tried from here: what an agent would get. */
export function TryIt() {
  const [shown, setShown] = useState<{ readonly name: string; readonly text: string } | null>(null);
  const { busy, failure, attempt } = useAttempt<'call'>();
  const run = (path: string, name: string) =>
    attempt('call', async () => {
      setShown(null);
      setShown({ name, text: JSON.stringify((await call(path)).value, undefined, 2) });
    });
  return (
    <div class="card stack">
      <p class="row">
        {CALLS.map(([path, name]) => (
          <button type="button" class="quiet" disabled={busy !== null} onClick={() => run(path, name)}>
            {name}
          </button>
        ))}
      </p>
      {busy === null ? null : <Waiting what="Asking." />}
      {failure === null ? null : <Failed failure={failure} />}
      <div role="status">
        {shown === null ? null : <CopyBlock label={`the answer of ${shown.name}`} text={shown.text} />}
      </div>
    </div>
  );
}
