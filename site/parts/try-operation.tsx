import { useEffect, useState } from 'hono/jsx';
import { useAttempt } from '../api/use-attempt.ts';
import { UNKNOWN_ORIGIN } from './agent-snippets.ts';
import { CopyBlock } from './copyable.tsx';
import { Field, Form } from './field.tsx';
import { Failed, Waiting } from './notice.tsx';

type Value = { readonly name: string; readonly place: 'path' | 'query'; readonly required: boolean };

export type Callable = {
  readonly method: string;
  /** With `{name}` for each parameter in it. */
  readonly path: string;
  readonly parameters: readonly Value[];
  readonly takesKey: boolean;
  /** Of the recorded request; null without one. */
  readonly body: unknown;
};

type Values = Readonly<Record<string, string>>;

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

type Answer = { readonly status: number; readonly text: string };

async function read(address: string): Promise<Answer> {
  const response = await fetch(address, { credentials: 'omit' });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, text: isJson ? JSON.stringify(JSON.parse(text), undefined, 2) : text };
}

/** The call as a command; a read can be sent from the page. A write is only shown, because it may move money. */
export function TryOperation({ callable }: { callable: Callable }) {
  const { method, path, parameters } = callable;
  const [origin, setOrigin] = useState(UNKNOWN_ORIGIN);
  const [values, setValues] = useState<Values>({});
  const [answer, setAnswer] = useState<Answer | null>(null);
  const { busy, failure, attempt } = useAttempt<'send'>();
  useEffect(() => setOrigin(location.origin), []);
  const isComplete = parameters.every(
    ({ name, required }) => !required || (values[name] ?? '').trim() !== '',
  );
  const send = () =>
    attempt('send', async () => {
      setAnswer(null);
      setAnswer(await read(addressOf(callable, values)));
    });
  return (
    <div class="stack">
      <CopyBlock label={`the command for ${path}`} text={curlOf(callable, values, origin)} />
      {method !== 'GET' ? null : (
        <Form label={`Call ${path}`} submit={send}>
          {parameters.length === 0 ? null : (
            <div class="pair">
              {parameters.map(({ name, required }) => (
                <Field
                  id={`value-${path.replaceAll(/\W+/g, '-')}-${name}`}
                  label={name}
                  optional={!required}
                  value={values[name] ?? ''}
                  set={(value) => setValues({ ...values, [name]: value })}
                />
              ))}
            </div>
          )}
          <button type="submit" class="quiet start" disabled={busy !== null || !isComplete}>
            Send request
          </button>
        </Form>
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
