import type { Post } from '../../site/parts/nostr-post.tsx';
import { exampleOf } from '../kit/example.ts';

/**
 * Fifty different attacks in a name, a post or a referrer: markup, escapes from attributes, executable URLs,
 * and characters that reorder or hide text.
 */
export const HOSTILE_TEXTS: readonly string[] = [
  '<script>window.__pwned=1</script>',
  '<SCRIPT SRC=https://evil.example/x.js></SCRIPT>',
  '<img src=x onerror=window.__pwned=1>',
  '<img src="https://evil.example/pixel.gif">',
  '<svg onload=window.__pwned=1>',
  '<svg><script>window.__pwned=1</script></svg>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=window.__pwned=1>',
  '<iframe src="javascript:window.__pwned=1"></iframe>',
  '<iframe srcdoc="<script>parent.__pwned=1</script>"></iframe>',
  '<object data="javascript:window.__pwned=1"></object>',
  '<embed src="https://evil.example/x.swf">',
  '<base href="https://evil.example/">',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<link rel=stylesheet href=https://evil.example/x.css>',
  '<style>*{display:none}</style>',
  '<style>@import url(https://evil.example/x.css)</style>',
  '<body onload=window.__pwned=1>',
  '<details open ontoggle=window.__pwned=1>',
  '<input autofocus onfocus=window.__pwned=1>',
  '<video><source onerror=window.__pwned=1></video>',
  '<marquee onstart=window.__pwned=1>x</marquee>',
  '<form action="https://evil.example/"><button>Claim</button></form>',
  '<a href="javascript:window.__pwned=1">Claim</a>',
  '<template><script>window.__pwned=1</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=window.__pwned=1>">',
  '</code></dd></dl><h1>Reserve drained</h1>',
  '</script><script>window.__pwned=1</script>',
  '</title><script>window.__pwned=1</script>',
  '</textarea><img src=x onerror=window.__pwned=1>',
  '--><script>window.__pwned=1</script>',
  ']]><script>window.__pwned=1</script>',
  '" onmouseover="window.__pwned=1',
  "' onfocus='window.__pwned=1' autofocus='",
  '" autofocus onfocus=window.__pwned=1 x="',
  '`onmouseover=window.__pwned=1',
  '&lt;script&gt;window.__pwned=1&lt;/script&gt;',
  '&#60;img src=x onerror=window.__pwned=1&#62;',
  '&amp;&quot;&#39;<>',
  'javascript:window.__pwned=1',
  'JaVaScRiPt:window.__pwned=1//https://ok.example/',
  'data:text/html,<script>window.__pwned=1</script>',
  'vbscript:msgbox(1)',
  '\u0001javascript:window.__pwned=1',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of other engines, to be shown as it is
  '${window.__pwned=1}',
  '{{constructor.constructor("window.__pwned=1")()}}',
  '%3Cscript%3Ewindow.__pwned=1%3C/script%3E',
  '<img src=x onerror\n=\nwindow.__pwned=1>',
  '\u202Egnp.exe\u202C<b>reversed</b>',
  'Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D\u034F\u0334\u0319\u0324\u031Ea\u0353l\u0347g\u0322o<i>',
  `<b>${'A'.repeat(400)}</b>`,
];

/** A real response with every text replaced. */
export function withText<T>(value: T, text: string): T {
  if (typeof value === 'string') return text as T;
  if (Array.isArray(value)) return value.map((entry) => withText(entry, text)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withText(entry, text)])) as T;
}

export const postOf = (text: string): Post =>
  withText({ ...exampleOf('getNostrFeed').posts[0], content_warning: 'x' }, text);

export const tokenOf = (text: string) => ({
  ...withText(exampleOf('getToken'), text),
  ...{ token_program: 'token' as const, powers: ['permanent_delegate' as const, 'unknown' as const] },
  ...{ mint_authority: text, freeze_authority: text, image: text, stale: true, official: null },
  warning: 'well_known_name' as const,
});
