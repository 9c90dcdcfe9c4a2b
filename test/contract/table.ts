import { expect } from 'vitest';
import { type Shape, shapeFaults, valuesAt } from './answer-shape.ts';
import type { Contract } from './world.ts';

/** One row of a contract table, as a test. */
export interface Row {
  /** The cells that name the row, joined by ` | `. */ readonly row: string;
  readonly check: (contract: Contract) => Promise<void> | void;
}

export const row = (name: string, check: Row['check']): Row => ({ row: name, check });

export interface Table {
  /** As in `DocumentTable`. */ readonly title: string;
  /** Columns of the document that name a row. */
  readonly key: readonly number[];
  readonly rows: readonly Row[];
}

/** The pairs of `name: shape, other: shape | null`. */
const shapesOf = (text: string): readonly (readonly [name: string, shape: string])[] =>
  text.split(',').map((pair) => {
    const [name = '', shape = ''] = pair.split(':').map((part) => part.trim());
    return [name, shape];
  });

/** Fields that a row lists together. */
export const fields = (call: string, at: string, shapes: string) => {
  return (contract: Contract): void => {
    for (const [name, text] of shapesOf(shapes)) {
      const shape = text.replace(' | null', '') as Shape;
      const path = at === '' ? name : `${at}.${name}`;
      expect(shapeFaults(contract.answer(call), path, shape, text.endsWith(' | null'))).toEqual([]);
    }
  };
};

/**
 * A table whose rows are the fields of one response.
 * @param rules throw when a value breaks a rule of the contract beyond its type
 * @param at    the list whose entries have the fields
 */
export const responseTable = (
  title: string,
  call: string,
  shapes: string,
  rules: Readonly<Record<string, (value: unknown, contract: Contract) => void>> = {},
  at = '',
): Table => ({
  title: `Resources and their fields > ${title}`,
  key: [0],
  rows: shapesOf(shapes).map(([row, shape]) => ({
    row,
    check(contract) {
      fields(call, at, `${row}: ${shape}`)(contract);
      for (const value of valuesAt(contract.answer(call), at === '' ? row : `${at}.${row}`))
        rules[row]?.(value, contract);
    },
  })),
});

/** The error body of the contract, with its status and, where it is fixed, its code. */
export function expectError(
  answer: { readonly status: number; readonly body: Readonly<Record<string, unknown>> },
  status: number,
  code?: string,
): void {
  expect([answer.status, answer.body]).toEqual([
    status,
    expect.objectContaining({ error_code: code ?? expect.any(String), error: expect.any(String) }),
  ]);
}
