import { Live, type Page, Title } from '../layout.tsx';
import { CurlSnippets, McpSnippets, TryIt } from '../parts/agents-live.tsx';
import { Table } from '../parts/table.tsx';

const TOOLS = [
  ['get_reserves', 'Balances and addresses of the reserve, their age and source', 'reads'],
  ['swap_min', 'Smallest and largest swap now, and whether one can start', 'reads'],
  ['swap_estimate', 'Sats that an amount of SOL would bring, fees included', 'reads'],
  ['swap_create', 'Swaps SOL of the reserve; dry_run first, one key per swap', 'spends'],
  ['swap_status', 'Where a swap stands, with both transactions', 'reads'],
] as const;

export const agents: Page = {
  path: '/agents',
  title: 'For agents and their developers',
  description:
    'Connect an AI agent by MCP, call the JSON API, or read llms.txt. No key or account is needed.',
  script: 'agents',
  Content: () => (
    <>
      <Title name="For agents and their developers">
        Five tools over MCP, or plain HTTP. No key, no account. Errors say what to do next, and money moves
        once however often a call is repeated.
      </Title>
      <section>
        <h2>Five tools</h2>
        <Table
          label="Tools of the MCP server"
          columns={[{ name: 'Tool' }, { name: 'What it does' }, { name: 'Effect' }]}
          rows={TOOLS.map(([name, what, effect]) => [
            <code>{name}</code>,
            what,
            <span class={`mark ${effect === 'spends' ? 'warn' : 'good'}`}>{effect}</span>,
          ])}
          empty=""
        />
      </section>
      <section>
        <h2>Try what an agent gets</h2>
        <p>The same answers that the reading tools hand on.</p>
        <Live name="try" json="/api/reserves">
          <TryIt />
        </Live>
      </section>
      <div class="columns">
        <section>
          <h2>MCP</h2>
          <p>
            A copy of the source runs the server on your machine. It holds no key and talks to this site only.
          </p>
          <div data-island="mcp">
            <McpSnippets />
          </div>
        </section>
        <section>
          <h2>HTTP</h2>
          <p>Amounts are numbers with a string of exact atoms beside each.</p>
          <div data-island="curl">
            <CurlSnippets />
          </div>
        </section>
      </div>
      <section>
        <h2>Read on</h2>
        <ul>
          <li>
            <a href="/docs">API reference</a>: every route, with schemas and real answers
          </li>
          <li>
            <a href="/llms.txt">llms.txt</a>: the same on one page of text, for a model
          </li>
          <li>
            <a href="/api/openapi.json">OpenAPI 3.0.3</a>: for generators
          </li>
          <li>
            <a href="/api/status">Status</a>: ask it before you blame your own code
          </li>
        </ul>
      </section>
      <section>
        <h2>Limits</h2>
        <ul>
          <li>
            About 600 requests a minute of one kind from one address, for what is sent and for reads that ask
            others (estimates, exchanges, pools); then 429 with Retry-After.
          </li>
          <li>6 new swaps an hour from one address, and caps for the hour and day for all together.</li>
          <li>10 open invoices from one address. Bodies up to 16 KiB.</li>
        </ul>
      </section>
    </>
  ),
};
