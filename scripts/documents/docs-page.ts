/**
 * /docs: every operation as plain HTML, readable without scripts. Scalar's interactive reference is large, so
 * it loads only on request. All files come from this origin.
 * @module
 */
import { SCALAR_SCRIPT } from '../../site/build/scalar.ts';
import { type ApiDocument, codesOf, type Method, type Operation, operationsOf } from './api-document.ts';

const SETTINGS = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replace(/[&"<>]/g, (sign) => ESCAPES[sign] ?? sign);
/** Escaped text whose `code` spans become elements. */
const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const STYLE = `:root{color-scheme:light dark;--paper:#fafaf7;--ink:#12201e;--soft:#53615e;--line:#e0e3dd;--sunk:#f1f2ee;--accent:#0b5f66;--sol:#6b3fd4;--btc:#f0a33c;--absr:#0b6b70}
@media (prefers-color-scheme:dark){:root{--paper:#0c1312;--ink:#e9efed;--soft:#a1b0ac;--line:#263432;--sunk:#1a2524;--accent:#6fd0cb;--sol:#b59bff;--btc:#d98a20;--absr:#62d2c9}}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
a{color:var(--accent)}code{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.875em;overflow-wrap:anywhere}
.top{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;align-items:center;min-height:4rem;box-sizing:border-box;padding:.5rem max(1.25rem,50vw - 36rem);border-bottom:1px solid var(--line)}
.top a{color:inherit;text-decoration:none}.top .brand{display:inline-flex;align-items:center;gap:.625rem;font-weight:600;font-size:1.1875rem;margin-right:auto}
main{box-sizing:border-box;max-width:calc(72rem + 2.5rem);margin:auto;padding:3rem 1.25rem 4rem}h1,h2{font-weight:500;letter-spacing:-.02em}h1{font-size:2.25rem}
button{min-height:2.75rem;padding:0 1.125rem;border:1px solid var(--accent);border-radius:8px;background:none;color:var(--accent);font:500 1rem system-ui;cursor:pointer}
details{border-top:1px solid var(--line)}summary{cursor:pointer;padding:.75rem 0}summary .soft{display:block}
details>div{padding:0 0 1rem 1rem}.soft{color:var(--soft)}.method{display:inline-block;min-width:3.25rem;font-weight:600}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) minmax(0,1fr);gap:.375rem 1.25rem}dd{margin:0;overflow-wrap:anywhere}
@media (width<34rem){dl{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.5rem}}`;

/** The mark of the other pages, in their colours. */
const MARK = `<svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true"><path fill="var(--sol)" d="M1 13q3-2 6 0v15H3a2 2 0 0 1-2-2z"/><path fill="var(--btc)" d="M12 17q4-2 8 0v11h-8z"/><path fill="var(--absr)" d="M25 19q3-2 6 0v7a2 2 0 0 1-2 2h-4z"/><path fill="currentColor" d="M8 3h3v25H8zM21 3h3v25h-3z"/></svg>`;

const PLACES = [
  ['/', 'Overview'],
  ['/reserves', 'Reserves'],
  ['/swap', 'Swap'],
  ['/tokens', 'Tokens'],
  ['/agents', 'Agents'],
  ['/llms.txt', 'llms.txt'],
] as const;

type Parameter = Extract<NonNullable<Operation['parameters']>[number], { name: string }>;

const parameterRow = ({ name, in: where, required, description }: Parameter): string =>
  `<dt><code>${escaped(name)}</code></dt><dd>${escaped(where)}, ${required ? 'required' : 'optional'}${description ? `: ${prose(description)}` : ''}</dd>`;

const responseRow = ([status, response]: [string, Operation['responses'][string]]): string => {
  const content = 'content' in response ? response.content?.['application/json']?.schema : undefined;
  const codes = codesOf(content).map((code) => `<code>${escaped(code)}</code>`);
  const description = 'description' in response ? prose(response.description) : '';
  return `<dt>${escaped(status)}</dt><dd>${[description, ...codes].filter(Boolean).join(' ')}</dd>`;
};

function operationHtml(method: Method, path: string, operation: Operation): string {
  const parameters = (operation.parameters ?? []).filter((p): p is Parameter => 'name' in p);
  const list = (name: string, rows: string[]): string =>
    rows.length === 0 ? '' : `<h3>${name}</h3><dl>${rows.join('')}</dl>`;
  return `<details id="${escaped(operation.operationId ?? path)}">
<summary><code><span class="method">${method.toUpperCase()}</span> ${escaped(path)}</code> <span class="soft">${prose(operation.summary ?? '')}</span></summary>
<div>${operation.description ? `<p>${prose(operation.description)}</p>` : ''}${list('Parameters', parameters.map(parameterRow))}${list('Responses', Object.entries(operation.responses).map(responseRow))}</div>
</details>`;
}

/** @param origin of the service, for the canonical address; empty if not configured */
export function docsPage(origin: string, document: ApiDocument): string {
  const byTag = new Map<string, string[]>();
  for (const { method, path, operation } of operationsOf(document)) {
    const tag = operation.tags?.[0] ?? 'other';
    byTag.set(tag, [...(byTag.get(tag) ?? []), operationHtml(method, path, operation)]);
  }
  const sections = [...byTag].map(
    ([tag, operations]) =>
      `<section><h2>${escaped(tag[0]?.toUpperCase() ?? '')}${escaped(tag.slice(1))}</h2>${operations.join('\n')}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference · Sluice</title>
<meta name="description" content="Every operation of the Sluice API, with parameters, responses and error codes.">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="canonical" href="${escaped(origin)}/docs">
<link rel="service-desc" type="application/json" href="/api/openapi.json">
<style>${STYLE}</style>
</head>
<body>
<header class="top"><a class="brand" href="/">${MARK}Sluice</a>${PLACES.map(([path, name]) => `<a href="${path}">${name}</a>`).join('')}</header>
<main id="reference">
<h1>API reference</h1>
<p>Public JSON API; no request needs credentials. The whole contract for machines: <a href="/api/openapi.json">OpenAPI 3.0.3</a>.
Error codes, units and idempotency are explained in <a href="/llms.txt">llms.txt</a>.</p>
<p><button type="button" id="interactive" hidden data-script="${SCALAR_SCRIPT}" data-configuration="${escaped(JSON.stringify(SETTINGS))}">Open the interactive reference (1.1 MB)</button></p>
${sections.join('\n')}
</main>
<script src="/docs.js" defer></script>
</body>
</html>
`;
}
