import { expect } from 'vitest';
import { type Shape, shapeFaults, valuesAt } from './answer-shape.ts';
import type { Contract } from './world.ts';

/** One row of a contract table, as a test. */
export interface Row {
  /** The cells that name the row, joined by ` | `. */
  readonly row: string;
  readonly check: (contract: Contract) => Promise<void> | void;
}

export interface Table {
  /** As in `DocumentTable`. */
  readonly title: string;
  /** Columns of the document that name a row. */
  readonly key: readonly number[];
  readonly rows: readonly Row[];
}

interface FieldOptions {
  readonly nullable?: boolean;
  /** Throws when a value breaks a rule of the contract beyond its type. */
  readonly is?: (value: unknown, contract: Contract) => void;
  /** Its path in the response, if it differs from the row's name. */
  readonly at?: string;
}

/** A field of the response to a call. */
export function field(call: string, name: string, shape: Shape, options: FieldOptions = {}): Row {
  const { nullable = false, is, at = name } = options;
  return {
    row: name,
    check(contract) {
      const body = contract.answer(call);
      expect(shapeFaults(body, at, shape, nullable)).toEqual([]);
      for (const value of valuesAt(body, at)) is?.(value, contract);
    },
  };
}

/** Fields that a row lists together. */
export const fields = (
  call: string,
  at: string,
  shapes: Readonly<Record<string, Shape | `${Shape} | null`>>,
) => {
  return (contract: Contract): void => {
    for (const [name, text] of Object.entries(shapes)) {
      const shape = text.replace(' | null', '') as Shape;
      const path = at === '' ? name : `${at}.${name}`;
      expect(shapeFaults(contract.answer(call), path, shape, text.endsWith(' | null'))).toEqual([]);
    }
  };
};

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
