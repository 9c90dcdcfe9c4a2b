import { useEffect, useState } from 'hono/jsx';
import { useAttempt } from '../api/use-attempt.ts';
import type { ToolCall, Values } from '../build/call-examples.ts';
import { UNKNOWN_ORIGIN } from './agent-snippets.ts';
import { CopyBlock } from './copyable.tsx';
import { Field, Form } from './field.tsx';
import { Failed, Waiting } from './notice.tsx';
import { Tabs } from './tabs.tsx';

type Value = { readonly name: string; readonly place: 'path' | 'query'; readonly required: boolean };

export type Callable = {
  /** Also the name of the client's method. */
  readonly id: string;
  readonly method: string;
  /** With `{name}` for each parameter in it. */
  readonly path: string;
  readonly parameters: readonly Value[];
  readonly takesKey: boolean;
  /** Body of the recorded request; null without a body. */
  readonly body: unknown;
  /** Values of the recorded request. */
  readonly recorded: Values;
  /** The recorded request as a call over MCP; null without a tool for it. */
  readonly tool: ToolCall | null;
};

/** The path and query of a call; a path parameter without a value keeps its name in braces. */
export function addressOf({ path, parameters }: Callable, values: Values): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, place } of parameters) {
    const value = values[name]?.trim() ?? '';
    if (value === '') continue;
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, value);
  }
  return query.size === 0 ? address : `${address}?${query}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The call with curl. A call that takes a key gets one that was made before, so that a repeat moves nothing. */
export function curlOf(callable: Callable, values: Values, origin: string): string {
  const { method, takesKey, body } = callable;
  const url = quoted(`${origin}${addressOf(callable, values)}`);
  return [
    ...(takesKey ? ['KEY=$(uuidgen)\n'] : []),
    method === 'GET' ? `curl ${url}` : `curl -X ${method} ${url}`,
    ...(takesKey ? [' \\\n  -H "idempotency-key: $KEY"'] : []),
    ...(body === null
      ? []
      : [` \\\n  -H 'content-type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`]),
  ].join('');
}

const filled = ({ parameters }: Callable, values: Values): Values =>
  Object.fromEntries(
    parameters.flatMap(({ name }) => {
      const value = values[name]?.trim() ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );

/** The call with the TypeScript client. The client itself creates the key of a call that moves money. */
export function clientCallOf(callable: Callable, values: Values, origin: string): string {
  const { id, body } = callable;
  const input = { ...filled(callable, values), ...(typeof body === 'object' ? body : {}) };
  return [
    "import { createClient } from 'sluice-client';",
    '',
    `const sluice = createClient({ baseUrl: '${origin}' });`,
    `const result = await sluice.${id}(${JSON.stringify(input, undefined, 2)});`,
    'console.log(result.ok ? result.value : result.failure);',
  ].join('\n');
}

/** The call as a request to the MCP endpoint. */
export const mcpCallOf = (tool: ToolCall, origin: string): string =>
  `curl ${quoted(`${origin}/mcp`)} \\\n  -H 'content-type: application/json' \\\n  -H 'accept: application/json, text/event-stream' \\\n  -d ${quoted(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool }),
  )}`;

const Commands = ({ callable, values, origin }: { callable: Callable; values: Values; origin: string }) => {
  const { id, path, tool } = callable;
  const text = (label: string, code: string) => <CopyBlock label={`${label} for ${path}`} text={code} />;
  return (
    <Tabs
      id={`call-${id}`}
      label={`How to call ${path}`}
      tabs={[
        { name: 'curl', content: () => text('the command', curlOf(callable, values, origin)) },
        {
          name: 'TypeScript',
          content: () => text('the client call', clientCallOf(callable, values, origin)),
        },
        ...(tool === null
          ? []
          : [{ name: 'MCP', content: () => text('the tool call', mcpCallOf(tool, origin)) }]),
      ]}
    />
  );
};

type Answer = { readonly status: number; readonly text: string };

async function read(address: string): Promise<Answer> {
  const response = await fetch(address, { credentials: 'omit' });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, text: isJson ? JSON.stringify(JSON.parse(text), undefined, 2) : text };
}

const Call = ({
  callable: { path, parameters },
  values,
  set,
  busy,
  send,
}: {
  callable: Callable;
  values: Values;
  set: (values: Values) => void;
  busy: boolean;
  send: () => void;
}) => {
  const isComplete = parameters.every(
    ({ name, required }) => !required || (values[name] ?? '').trim() !== '',
  );
  return (
    <Form label={`Call ${path}`} submit={send}>
      {parameters.length === 0 ? null : (
        <div class="pair">
          {parameters.map(({ name, required }) => (
            <Field
              id={`value-${path.replaceAll(/\W+/g, '-')}-${name}`}
              label={name}
              optional={!required}
              value={values[name] ?? ''}
              set={(value) => set({ ...values, [name]: value })}
            />
          ))}
        </div>
      )}
      <button type="submit" class="quiet start" disabled={busy || !isComplete}>
        Send request
      </button>
    </Form>
  );
};

/** The call as a command; a read can be sent from the page. A write is only shown, because it may move money. */
export function TryOperation({ callable }: { callable: Callable }) {
  const { method, path } = callable;
  const [origin, setOrigin] = useState(UNKNOWN_ORIGIN);
  const [values, setValues] = useState<Values>(callable.recorded);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const { busy, failure, attempt } = useAttempt<'send'>();
  useEffect(() => setOrigin(location.origin), []);
  const send = () =>
    attempt('send', async () => {
      setAnswer(null);
      setAnswer(await read(addressOf(callable, values)));
    });
  return (
    <div class="stack">
      <Commands callable={callable} values={values} origin={origin} />
      {method !== 'GET' ? null : (
        <Call callable={callable} values={values} set={setValues} busy={busy !== null} send={send} />
      )}
      {busy === null ? null : <Waiting what="Calling the API." />}
      <Failed failure={failure} />
      <div role="status">
        {answer === null ? null : (
          <div class="stack">
            <p>
              <span class={`mark ${answer.status < 400 ? 'good' : 'warn'}`}>{answer.status}</span>
            </p>
            <CopyBlock label={`the response of ${path}`} text={answer.text} />
          </div>
        )}
      </div>
    </div>
  );
}
