import { expect, it } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { problemResponse } from '../../src/http/problem.ts';
import { newRouter } from '../../src/http/router.ts';

const CONTROLS = [0x07, 0x1b, 0x85, 0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069];

it.each(CONTROLS.map((code) => [`U+${code.toString(16)}`, String.fromCodePoint(code)]))(
  'a refusal repeats no %s from its caller in its text, its details or their names',
  async (_name, control) => {
    const app = newRouter();
    const given = `a${control}b`;
    const details = { [given]: [given, { value: given }], count: 1 };
    app.get('/', (c) =>
      problemResponse(c, new AppError('INVALID_INPUT', `${given} is unknown`, { details })),
    );
    const shown = await (await app.request('/')).text();
    expect(shown).not.toContain(JSON.stringify(control).slice(1, -1));
    expect(JSON.parse(shown)).toMatchObject({
      error: 'a\ufffdb is unknown',
      details: { 'a\ufffdb': ['a\ufffdb', { value: 'a\ufffdb' }], count: 1 },
    });
  },
);
