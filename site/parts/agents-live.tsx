import { useEffect, useState } from 'hono/jsx';
import { snippetsFor } from '../../src/mcp/snippets.ts';
import { call } from '../api/call.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { curlLines, UNKNOWN_ORIGIN } from './agent-snippets.ts';
import { CopyBlock } from './copyable.tsx';
import { Failed, Waiting } from './notice.tsx';
import { Tabs } from './tabs.tsx';

function useOrigin(): string {
  const [origin, setOrigin] = useState(UNKNOWN_ORIGIN);
  useEffect(() => setOrigin(location.origin), []);
  return origin;
}

const tabsFor = (origin: string) =>
  snippetsFor(origin).map(({ client, place, text }) => ({
    name: client,
    content: () => (
      <>
        <p class="fine">
          {place === 'terminal' ? 'Run in a terminal' : 'Add to'}{' '}
          {place === 'terminal' ? null : <code>{place}</code>}
        </p>
        <CopyBlock label={`the configuration for ${client}`} text={text} />
      </>
    ),
  }));

/** The URL first, then one tab per client. */
export function McpSnippets() {
  const origin = useOrigin();
  return (
    <div class="stack">
      <CopyBlock label="the MCP address" text={`${origin}/mcp`} />
      <Tabs id="mcp-url" label="Clients" tabs={tabsFor(origin)} />
    </div>
  );
}

export function CurlSnippets() {
  const origin = useOrigin();
  return (
    <Tabs
      id="curl"
      label="Calls"
      tabs={curlLines(origin).map(({ name, text }) => ({
        name,
        content: () => <CopyBlock label={name} text={text} />,
      }))}
    />
  );
}

const CALLS = [
  ['get_reserves', () => call('getReserves', {})],
  ['swap_min', () => call('getSwapMinimum', {})],
  ['swap_estimate', () => call('getSwapEstimate', { amountSol: 0.5 })],
] as const;

/** Read-only tools to try: the page shows the response that an agent gets. */
export function TryIt() {
  const [shown, setShown] = useState<{ readonly name: string; readonly text: string } | null>(null);
  const { busy, failure, attempt } = useAttempt<'call'>();
  const run = (name: string, read: () => Promise<{ readonly value: object }>) =>
    attempt('call', async () => {
      setShown(null);
      setShown({ name, text: JSON.stringify((await read()).value, undefined, 2) });
    });
  return (
    <div class="stack">
      <p class="row">
        {CALLS.map(([name, read]) => (
          <button type="button" class="quiet" disabled={busy !== null} onClick={() => run(name, read)}>
            {name}
          </button>
        ))}
      </p>
      {busy === null ? null : <Waiting what="Calling the API." />}
      <Failed failure={failure} />
      <div role="status">
        {shown === null ? null : <CopyBlock label={`the response of ${shown.name}`} text={shown.text} />}
      </div>
    </div>
  );
}
