/**
 * /llms.txt: every route on one page for language models, generated from the API document.
 * @module
 * @see https://llmstxt.org
 */
import { meaningOf, operationsOf } from './api-document.ts';
import type { Examples } from './examples.ts';
import { type ApiDocument, codesOf, type Operation } from './shared-parts.ts';

type Parameter = Extract<NonNullable<Operation['parameters']>[number], { name: string }>;
type Schema = {
  type?: unknown;
  description?: string;
  enum?: unknown[];
  default?: unknown;
};

const INTRODUCTION = `# Sluice

> A public JSON API that runs a Bitcoin reserve funded from Solana: reserve reports and proof, SOL to BTC swaps of the reserve, ABSR
> and ASRY, token creation and listing, currency exchange, pool and Nostr reads, site analytics. No key or account is needed.`;

const RULES = `## How to call it

- Send JSON with \`content-type: application/json\`. Responses are JSON unless stated otherwise.
- Every failure is \`{error_code, error, action, request_id, retryable, retry_after_s?, details?}\`. Branch on \`error_code\`; wait
  \`retry_after_s\` seconds before you repeat a \`retryable\` one; \`details\` names what to correct. Any route can return \`INTERNAL\`.
- To spend, send an \`Idempotency-Key\` header of 16 to 128 visible ASCII characters and keep it: a repeat with the same key and body
  returns the first response and moves nothing. Try a swap first with
  GET /api/swap/estimate, a claim with \`skipReward\`.
- \`status: waiting\` means poll again after \`nextPollSeconds\`. Only \`finished\` means that the money has arrived.
- A value with \`stale: true\` is older than usual, because its source is down. \`null\` means not known, never zero.
- The swap flow: GET /api/swap/min, GET /api/swap/estimate, POST /api/swap/create with an Idempotency-Key,
  then GET /api/swap/status/{id} until it is not \`waiting\`.`;

/** @param examples recorded requests by operationId; links get real parameters from them */
export function llmsText(document: ApiDocument, examples: Examples): string {
  const byTag = Map.groupBy(operationsOf(document), ({ operation }) => operation.tags?.[0]);
  const sections = [...byTag].map(([tag, listed]) => {
    const lines = listed.map((one) => operationLine(document, one, examples));
    return `## ${tag}\n\n${lines.join('\n')}`;
  });
  return `${[INTRODUCTION, RULES, ...sections].join('\n\n')}\n`;
}

function operationLine(
  document: ApiDocument,
  { method, path, operation }: ReturnType<typeof operationsOf>[number],
  examples: Examples,
): string {
  const origin = document.servers?.[0]?.url.replace(/\/$/, '');
  const parameters = (operation.parameters ?? []).filter(
    (parameter): parameter is Parameter => 'name' in parameter,
  );
  const recorded = examples[operation.operationId ?? '']?.request;
  const url = `${origin}${recorded?.path ?? path}`;
  const codes = Object.values(operation.responses).flatMap((response) =>
    codesOf(response?.content?.['application/json']?.schema),
  );
  const declared = [...new Set(codes)].filter((code) => code !== 'INTERNAL');
  const details = [
    ...parameters.map(({ name, schema = {}, required = false, in: place }) =>
      field(name, schema, required, ` in ${place}`),
    ),
    ...bodyFields(document, operation),
    ...(recorded?.body === undefined ? [] : [`example body \`${JSON.stringify(recorded.body)}\``]),
    ...(declared.length > 0 ? [`errors ${declared.join(', ')}`] : []),
  ];
  return [
    `- [${method.toUpperCase()} ${path}](${url}): ${meaningOf(operation)}`,
    ...details.map((detail) => `  - ${detail}`),
  ].join('\n');
}

function bodyFields(document: ApiDocument, operation: Operation): string[] {
  const body = operation.requestBody;
  const schema = body && 'content' in body ? body.content['application/json']?.schema : undefined;
  const found = schema && '$ref' in schema ? document.components?.schemas?.[nameOf(schema.$ref)] : schema;
  if (!found || '$ref' in found) return [];
  return Object.entries(found.properties ?? {}).map(([name, property]) =>
    field(name, property, found.required?.includes(name) ?? false, ' in body'),
  );
}

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

function field(name: string, schema: object, required: boolean, where: string): string {
  const { type, description, enum: values, default: fallback } = schema as Schema;
  const kind = [typeof type === 'string' ? type : 'any', required ? 'required' : 'optional'].join(', ');
  const about = [
    description,
    values && `one of ${values.join(', ')}`,
    fallback !== undefined && `default ${fallback}`,
  ].filter(Boolean);
  return `\`${name}\`${where} (${kind})${about.length > 0 ? `: ${about.join('; ')}` : ''}`;
}
