import type { NostrEvent } from 'nostr-tools/pure';
import { describe, expect, it } from 'vitest';
import { commentRoot, contentWarning, labelsOf, webUrl } from '../../../src/chain/nostr/event-tags.ts';
import { eachRow } from '../../kit/scenes.ts';

const noted = (...tags: string[][]): NostrEvent => ({
  ...{ id: '', pubkey: '', created_at: 1, kind: 1111, tags, content: '', sig: '' },
});

describe('NIP-22 root', () => {
  eachRow<[tags: string[][], root: object]>(`
    [["I", "https://a.test/c"], ["K", "web"], ["i", "https://a.test/d"], ["k", "web"]]
    | { "tag": "I", "value": "https://a.test/c", "kind": "web", "url": "https://a.test/c" }
    [["E", "abc"], ["K", "1063"], ["P", "x"]]                 | { "tag": "E", "value": "abc", "kind": "1063", "url": null }
    [["E", "abc"], ["A", "30023:pub:slug"], ["K", "30023"]]   | { "tag": "A" }
  `)('the root of a comment with the tags %j is %j', (tags, root) => {
    expect(commentRoot(noted(...tags))).toMatchObject(root);
  });

  it('an invalid link in the root tags is left out', () => {
    for (const value of ['podcast:guid:x', 'javascript:alert(1)', 'isbn:9780765382030'])
      expect(commentRoot(noted(['I', value], ['K', 'x']))).toMatchObject({ value, url: null });
  });

  it('lower-case and empty tags are not a root', () => {
    expect(commentRoot(noted(['i', 'https://a.test/'], ['k', 'web']))).toBeUndefined();
    expect(commentRoot(noted(['I'], ['K', 'web']))).toBeUndefined();
    expect(commentRoot(noted(['I', '']))).toBeUndefined();
    expect(commentRoot(noted(['I', 'x']))?.kind).toBeNull();
  });
});

eachRow<[string, string[][], unknown[]]>(`
  the third element               | [["L", "agent"], ["l", "ai", "agent"]]                     | [["ai", "agent"]]
  the third element, undeclared   | [["l", "ai", "agent"]]                                     | [["ai", "agent"]]
  ugc, when none is declared      | [["l", "ai"]]                                              | [["ai", "ugc"]]
  the only one declared           | [["L", "license"], ["l", "MIT"]]                           | [["MIT", "license"]]
  open, when several are declared | [["L", "a"], ["L", "b"], ["l", "x"]]                       | [["x", null]]
  each label’s own                | [["L", "a"], ["L", "b"], ["l", "x", "a"], ["l", "y", "b"]] | [["x", "a"], ["y", "b"]]
  ugc for an empty third element  | [["l", "x", ""]]                                           | [["x", "ugc"]]
  no complete label               | [["L", "a"], ["l"], ["l", ""], ["t", "ai"]]                | []
`)('reads the namespace of a label: %s', (_name, tags, labels) => {
  expect(labelsOf(noted(...tags)).map(({ value, namespace }) => [value, namespace])).toEqual(labels);
});

eachRow<[string, string[][], string | undefined]>(`
  with its reason      | [["content-warning", "spoiler"]]                               | spoiler
  without a reason     | [["content-warning"]]                                          | sensitive content
  with a blank reason  | [["content-warning", " "]]                                     | sensitive content
  as a label           | [["L", "content-warning"], ["l", "nudity", "content-warning"]] | nudity
  as a namespace alone | [["L", "content-warning"]]                                     | sensitive content
  no tag of its own    | [["l", "content-warning"], ["t", "content-warning"]]           | undefined
`)('reads a content warning: %s', (_name, tags, warning) => {
  expect(contentWarning(noted(...tags))).toBe(warning);
});

it.each([
  ['https://clawstr.com/c/x', 'https://clawstr.com/c/x'],
  ['HTTPS://Clawstr.com:443/c/x?y=1#top', 'https://clawstr.com/c/x?y=1'],
  ['http://a.test', 'http://a.test/'],
  ['javascript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['https://user:pass@a.test/', undefined],
  ['//a.test/', undefined],
  ['', undefined],
])('the web URL %j is read as %j', (value, url) => {
  expect(webUrl(value)).toBe(url);
});
