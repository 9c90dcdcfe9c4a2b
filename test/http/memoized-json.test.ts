/** A cached response has the current parts, and the same text as long as they are the same. */
import fc from 'fast-check';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { memoizedJson, memoizedList, tagged } from '../../src/http/memoized-json.ts';

/** A route whose response consists of values that the test sets. */
function service<Parts extends readonly unknown[]>(first: Parts) {
  const state: { parts: Parts; made: number } = { parts: first, made: 0 };
  const answer = memoizedJson((...parts: Parts) => {
    state.made++;
    return { parts: parts as readonly unknown[] };
  });
  const app = new Hono();
  app.get('/', (c) => {
    c.header('Cache-Control', 'public, max-age=10');
    return answer(c, ...state.parts);
  });
  return { state, ask: () => app.request('/') };
}

describe('an answer that is kept', () => {
  it('is made once for the same parts, with the headers of a JSON answer', async () => {
    const value = { sats: '5' };
    const { state, ask } = service([value, null, 'bc1q']);
    const [first, second] = [await ask(), await ask()];
    expect(await first.json()).toEqual({ parts: [value, null, 'bc1q'] });
    expect(await second.text()).toBe(JSON.stringify({ parts: [value, null, 'bc1q'] }));
    expect(state.made).toBe(1);
    for (const answer of [first, second]) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.headers.get('cache-control')).toBe('public, max-age=10');
    }
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'));
  });

  it('follows every change of any part, and has another entity tag exactly where the text is another', async () => {
    const values = [{ n: 1 }, { n: 2 }, { n: 1 }, null, undefined, 'text', 1, 0, -0, Number.NaN, true];
    const part = fc.constantFrom(...values);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(part, part, part), { minLength: 1, maxLength: 20 }),
        async (rounds) => {
          const { state, ask } = service<readonly unknown[]>([]);
          const tags = new Map<string, string>();
          for (const parts of rounds) {
            state.parts = parts;
            const answer = await ask();
            const text = await answer.text();
            expect(text).toBe(JSON.stringify({ parts }));
            const tag = String(answer.headers.get('etag'));
            expect(tags.get(text) ?? tag).toBe(tag);
            tags.set(text, tag);
          }
          expect(new Set(tags.values()).size).toBe(tags.size);
        },
      ),
    );
  });

  it('whose making fails is not kept, and hides no later one', async () => {
    let fails = true;
    const answer = memoizedJson((value: string) => {
      if (fails) throw new Error('no');
      return { value };
    });
    const app = new Hono();
    app.get('/', (c) => answer(c, 'one'));
    app.onError((_error, c) => c.text('failed', 500));
    expect((await app.request('/')).status).toBe(500);
    fails = false;
    expect(await (await app.request('/')).json()).toEqual({ value: 'one' });
  });
});

describe('an answer about a list', () => {
  const [first, second] = [
    [1, 2],
    [1, 2],
  ];

  it('is created once for each list and its further parts, without an entity tag', async () => {
    let created = 0;
    const answer = memoizedList((list: readonly number[], ...parts: readonly unknown[]) => {
      created += 1;
      return { list, parts };
    });
    const state = { list: first, parts: [] as unknown[] };
    const app = new Hono();
    app.get('/', (c) => answer(c, state.list, ...state.parts));
    const text = async () => (await app.request('/')).text();
    const whole = await app.request('/');
    expect(whole.headers.get('content-type')).toBe('application/json');
    expect(whole.headers.get('etag')).toBeNull();
    expect(await whole.text()).toBe('{"list":[1,2],"parts":[]}');
    state.list = second;
    await text();
    state.list = first;
    await text();
    expect(created).toBe(2);
    for (const parts of [[1], [1, undefined], [1, null], [], ['1']]) {
      state.parts = parts;
      expect(await text()).toBe(JSON.stringify({ list: [1, 2], parts }));
    }
    expect(created).toBe(7);
  });
});

describe('a tagged text', () => {
  it('is its UTF-8 and a strong tag of 40 hexadecimal digits', () => {
    const { bytes, etag } = tagged('₿ 1');
    expect(new TextDecoder().decode(bytes)).toBe('₿ 1');
    expect(etag).toMatch(/^"[0-9a-f]{40}"$/);
    expect(tagged('₿ 2').etag).not.toBe(etag);
  });
});
