/**
 * /docs: the API document in Scalar's reference. The script is served by this site, nothing is loaded from elsewhere.
 * @module
 */

/** Below site/public; the file carries Scalar's version and license. */
export const SCALAR_SCRIPT = '/vendor/scalar-1.46.4.js';

/** Scalar styles itself with inline styles and embeds its icons; it talks to this origin only. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SETTINGS = {
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
};

const attribute = (text: string): string =>
  text.replace(/[&"<]/g, (c) => ({ '&': '&amp;', '"': '&quot;', '<': '&lt;' })[c] ?? c);

/** @param origin of the service, for the canonical address; empty where none is configured */
export const docsPage = (origin: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice API</title>
<link rel="canonical" href="${attribute(origin)}/docs">
<link rel="service-desc" type="application/json" href="/api/openapi.json">
</head>
<body>
<noscript>This page needs JavaScript. The same in text: <a href="/llms.txt">/llms.txt</a>. For machines:
<a href="/api/openapi.json">/api/openapi.json</a>.</noscript>
<script id="api-reference" data-url="/api/openapi.json" data-configuration="${attribute(JSON.stringify(SETTINGS))}"></script>
<script src="${SCALAR_SCRIPT}"></script>
</body>
</html>
`;
