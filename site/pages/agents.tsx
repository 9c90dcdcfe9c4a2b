import { TOOLS } from '../../src/mcp/tools/all-tools.ts';
import { Live, type Page, Title } from '../layout.tsx';
import { CurlSnippets, McpSnippets, TryIt } from '../parts/agents-live.tsx';

/** A conversation in which an agent swaps; the calls are those of the tools. */
const TRANSCRIPT = [
  ['you', 'Swap half a SOL of the reserve, if it costs less than 2 %.'],
  ['tool', 'swap_estimate {"amountSol": "0.5"} → 61975 sats, at least 61665, creatable'],
  ['agent', 'The quote costs 0.84 %. I start it with one idempotency key.'],
  ['tool', 'swap_create {"amountSol": 0.5, "idempotencyKey": "…"} → waiting'],
  ['agent', 'Started. I will check swap_status until the BTC is confirmed.'],
] as const;

const SPEAKERS = { you: 'You', tool: 'Tool', agent: 'Agent' } as const;

const Connect = () => (
  <div class="split">
    <section>
      <h2>Connect over MCP</h2>
      <p>The server holds no key: each tool calls the public API of this site.</p>
      <div data-island="mcp">
        <McpSnippets />
      </div>
    </section>
    <section>
      <h2>What it looks like</h2>
      <ol class="transcript">
        {TRANSCRIPT.map(([who, text]) => (
          <li class={who}>
            <span class="fine">{SPEAKERS[who]}</span>
            {who === 'tool' ? <code>{text}</code> : <span>{text}</span>}
          </li>
        ))}
      </ol>
    </section>
  </div>
);

const Tools = () => (
  <section>
    <h2>{TOOLS.length} tools</h2>
    <ul class="tools">
      {TOOLS.map(({ name, title, annotations }) => (
        <li>
          <code>{name}</code>
          <span>{title}</span>
          {annotations.readOnlyHint ? null : (
            <span class={`mark ${annotations.destructiveHint ? 'warn' : ''}`}>
              {annotations.destructiveHint ? 'moves money' : 'creates a record'}
            </span>
          )}
        </li>
      ))}
    </ul>
  </section>
);

const ReadOn = () => (
  <div class="columns">
    <section>
      <h2>Read on</h2>
      <ul class="doors">
        <li>
          <a href="/docs">API reference</a>
          <span class="fine">Every operation, with schemas and recorded responses</span>
        </li>
        <li>
          <a href="/llms.txt">llms.txt</a>
          <span class="fine">The same on one page of text, for a model</span>
        </li>
        <li>
          <a href="/api/openapi.json">OpenAPI 3.0.3</a>
          <span class="fine">For generators</span>
        </li>
      </ul>
    </section>
    <section>
      <h2>Limits</h2>
      <ul>
        <li>
          About 600 requests a minute per address and group of routes. Further requests get 429 with
          Retry-After.
        </li>
        <li>
          At most 7 new swaps in two hours per address, and fewer while others swap. All callers share limits
          per hour and day.
        </li>
        <li>10 open invoices per address. Bodies up to 16 KiB.</li>
      </ul>
    </section>
  </div>
);

export const agents: Page = {
  path: '/agents',
  title: 'For agents and their developers',
  description:
    'Connect an AI agent by MCP, call the JSON API, or read llms.txt. No key or account is needed.',
  script: 'agents',
  Content: () => (
    <>
      <Title name="For agents and their developers">
        One URL for MCP, or plain HTTP. No account is needed. Errors name the next step, and a call repeated
        with the same Idempotency-Key moves money once.
      </Title>
      <Connect />
      <Tools />
      <section>
        <h2>Try it</h2>
        <p>The same responses that the read-only tools return.</p>
        <Live name="try" json="/api/reserves">
          <TryIt />
        </Live>
      </section>
      <section>
        <h2>Call it over HTTP</h2>
        <p>Each amount is a number, with the exact amount in the smallest unit as text beside it.</p>
        <div data-island="curl">
          <CurlSnippets />
        </div>
      </section>
      <ReadOn />
    </>
  ),
};
