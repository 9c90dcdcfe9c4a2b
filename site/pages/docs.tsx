import { operationsOf } from '../../scripts/documents/api-document.ts';
import { EXAMPLES } from '../../scripts/documents/examples.ts';
import {
  type ApiDocument,
  codesOf,
  type Method,
  type Operation,
} from '../../scripts/documents/shared-parts.ts';
import { ERRORS } from '../../src/core/errors.ts';
import { toolCallOf, valuesIn } from '../build/call-examples.ts';
import { fieldsOf, type SchemaField, typeText } from '../build/schema-fields.ts';
import { type Page, Title } from '../layout.tsx';
import { UNKNOWN_ORIGIN } from '../parts/agent-snippets.ts';
import { counted } from '../parts/format.ts';
import { OperationSearch } from '../parts/operation-search.tsx';
import { Folded } from '../parts/table.tsx';
import { type Callable, curlOf } from '../parts/try-operation.tsx';

type Schemas = Parameters<typeof fieldsOf>[1];
type Listed = ReturnType<typeof operationsOf>[number];
type Parameter = Extract<NonNullable<Operation['parameters']>[number], { name: string }>;
type Response = Exclude<Operation['responses'][string], { $ref: string }>;

/** Text of the document, whose only markup is `code` and **strong**. */
const Prose = ({ text }: { text: string }) => (
  <>
    {text
      .split(/(`[^`]+`|\*\*[^*]+\*\*)/)
      .map((part) =>
        part.startsWith('`') ? (
          <code>{part.slice(1, -1)}</code>
        ) : part.startsWith('**') ? (
          <strong>{part.slice(2, -2)}</strong>
        ) : (
          part
        ),
      )}
  </>
);

/** Few elements, because the page has about a thousand members. */
const Fields = ({ title, fields }: { title: string; fields: readonly SchemaField[] }) =>
  fields.length === 0 ? null : (
    <>
      <h3>{title}</h3>
      <dl class="members">
        {fields.map(({ name, type, required, about }) => (
          <>
            <dt>
              <code>{name}</code> {type}
              {required ? '' : ', optional'}
            </dt>
            <dd>
              <Prose text={about} />
            </dd>
          </>
        ))}
      </dl>
    </>
  );

const parametersOf = ({ parameters = [] }: Operation): Parameter[] =>
  parameters.filter((parameter): parameter is Parameter => 'name' in parameter);

const parameterField = ({ name, in: place, required, description, schema }: Parameter, schemas: Schemas) => ({
  name,
  type: `${place}, ${typeText(schema, schemas)}`,
  required: required === true,
  about: description ?? '',
});

const jsonOf = (content: Response['content']) => content?.['application/json'];
const bodyOf = ({ requestBody }: Operation) =>
  requestBody !== undefined && 'content' in requestBody ? jsonOf(requestBody.content) : undefined;
const responsesOf = ({ responses }: Operation): [status: string, response: Response][] =>
  Object.entries(responses).filter((entry): entry is [string, Response] => !('$ref' in entry[1]));

/** The recorded response of an operation. */
const Example = ({ operation: { operationId = '' }, status }: { operation: Operation; status: string }) => {
  const value = status === '200' ? EXAMPLES[operationId]?.responses.ok : undefined;
  return value === undefined ? null : (
    <details>
      <summary>Recorded response</summary>
      <section class="sample" tabindex={0} aria-label="Recorded response">
        <pre>
          <code>{JSON.stringify(value, undefined, 2)}</code>
        </pre>
      </section>
    </details>
  );
};

const Failures = ({ failures }: { failures: readonly [string, Response][] }) => (
  <details>
    <summary>Errors</summary>
    <dl class="members">
      {failures.map(([status, { content }]) => (
        <>
          <dt>{status}</dt>
          {codesOf(jsonOf(content)?.schema).map((code) => (
            <dd>
              <code>{code}</code>: {ERRORS[code]?.meaning}
            </dd>
          ))}
        </>
      ))}
    </dl>
  </details>
);

/** The data with which the page shows or makes a call. */
const callOf = ({ method, path, operation }: Listed): Callable => {
  const id = operation.operationId ?? '';
  const recorded = valuesIn(path, EXAMPLES[id]?.request?.path ?? path);
  const body: unknown = bodyOf(operation)?.example ?? null;
  return {
    id,
    method: method.toUpperCase(),
    path,
    parameters: parametersOf(operation)
      .filter(({ in: place }) => place !== 'header')
      .map(({ name, in: place, required }) => ({
        name,
        place: place === 'path' ? 'path' : 'query',
        required: required === true,
      })),
    takesKey: parametersOf(operation).some(({ name }) => name === 'idempotency-key'),
    body,
    recorded,
    tool: toolCallOf(id, recorded, body),
  };
};

const Card = ({ listed, schemas }: { listed: Listed; schemas: Schemas }) => {
  const { method, path, operation } = listed;
  const responses = responsesOf(operation);
  const isFailure = ([, { content }]: [string, Response]): boolean =>
    codesOf(jsonOf(content)?.schema).length > 0;
  const callable = callOf(listed);
  return (
    <details
      class="operation"
      data-search={`${path} ${operation.summary} ${operation.description}`.toLowerCase()}
    >
      <summary>
        <MethodMark method={method} />
        <code>{path}</code>
        <span class="soft">{operation.summary}</span>
      </summary>
      {/* A link to this element opens the details around it. */}
      <div id={operation.operationId} class="stack">
        <p>
          <Prose text={operation.description ?? ''} />
        </p>
        <div data-call={JSON.stringify(callable)}>
          <pre class="sample">
            <code>{curlOf(callable, callable.recorded, UNKNOWN_ORIGIN)}</code>
          </pre>
        </div>
        <Fields
          title="Parameters"
          fields={parametersOf(operation).map((parameter) => parameterField(parameter, schemas))}
        />
        <Fields title="Body" fields={fieldsOf(bodyOf(operation)?.schema, schemas)} />
        {responses
          .filter((response) => !isFailure(response))
          .map(([status, response]) => (
            <>
              <h3>
                {status} <span class="soft">{response.description}</span>
              </h3>
              <Example operation={operation} status={status} />
              <Fields title="Members" fields={fieldsOf(jsonOf(response.content)?.schema, schemas)} />
            </>
          ))}
        <Failures failures={responses.filter(isFailure)} />
      </div>
    </details>
  );
};

const MethodMark = ({ method }: { method: Method }) => (
  <span class={method === 'get' ? 'method' : 'method writes'}>{method.toUpperCase()}</span>
);

/** The rules of every call: the list in the document's own description. */
const rulesOf = (description: string): string[] =>
  description
    .split(/\n- /)
    .slice(1)
    .map((rule) => rule.replaceAll(/\n\s*/g, ' '));

const nameOf = (tag: string): string =>
  ({ absr: 'ABSR', asry: 'ASRY' })[tag] ?? `${tag.slice(0, 1).toUpperCase()}${tag.slice(1)}`;

type Area = { readonly name: string; readonly description: string; readonly listed: readonly Listed[] };

const Areas = ({ areas }: { areas: readonly Area[] }) => (
  <nav class="areas" aria-label="Areas of the API">
    <ul>
      {areas.map(({ name, listed }) => (
        <li>
          <a href={`#area-${name}`}>{nameOf(name)}</a>
          <span class="fine">{listed.length}</span>
        </li>
      ))}
    </ul>
    <p class="fine">
      For machines: <a href="/api/openapi.json">OpenAPI</a>, <a href="/llms.txt">llms.txt</a>
    </p>
  </nav>
);

const Rules = ({ description }: { description: string }) => (
  <details class="rules">
    <summary>Rules for every call</summary>
    <ul>
      {rulesOf(description).map((rule) => (
        <li>
          <Prose text={rule} />
        </li>
      ))}
    </ul>
  </details>
);

/** The API reference, with every operation readable without scripts. */
export function docsPage(document: ApiDocument): Page {
  const schemas = document.components?.schemas ?? {};
  const operations = operationsOf(document);
  const areas = (document.tags ?? []).map(({ name, description = '' }) => ({
    name,
    description,
    listed: operations.filter(({ operation }) => operation.tags?.includes(name)),
  }));
  return {
    path: '/docs',
    title: 'API reference',
    description: 'Every operation of the Sluice API, with parameters, recorded responses and error codes.',
    script: 'docs',
    Content: () => (
      <>
        <Title name="API reference">
          A public JSON API of a Bitcoin reserve, its token ABSR and the reward token ASRY. No request needs a
          key or an account. Each operation has a recorded call with its values filled in, ready to send.
        </Title>
        <div class="reference">
          <Areas areas={areas} />
          <div>
            <Rules description={document.info.description ?? ''} />
            <div data-island="search" class="live">
              <OperationSearch />
            </div>
            {areas.map(({ name, description, listed }) => (
              <section class="area" id={`area-${name}`}>
                <h2>{nameOf(name)}</h2>
                <p>{description}</p>
                <Folded summary={counted(listed.length, 'operation')}>
                  {listed.map((one) => (
                    <Card listed={one} schemas={schemas} />
                  ))}
                </Folded>
              </section>
            ))}
          </div>
        </div>
      </>
    ),
  };
}
