/**
 * Puts every small change of a source file behind a switch, so that tests load the file once and one switch
 * is set at a time.
 * @module
 */
import { parseSync } from 'vite';
import { SWITCH } from './plan.ts';

export interface Mutation {
  readonly file: string;
  readonly line: number;
  readonly was: string;
  readonly becomes: string;
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>;

const COMPARISONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
};
const ARITHMETIC: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
  '^': ['&'],
};
const LOGICAL: Readonly<Record<string, readonly string[]>> = { '&&': ['||'], '||': ['&&'], '??': ['&&'] };
/** Type syntax that contains values. */
const VALUE_OF_TYPE = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';

const childrenOf = (node: Node): Node[] =>
  Object.entries(node)
    .filter(([name]) => !(node.type === 'Property' && name === 'key' && node.computed !== true))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .filter(({ type }) => !type.startsWith('TS') || VALUE_OF_TYPE.has(type))
    .sort((a, b) => a.start - b.start);

/** Variants of an expression after one mistake. */
function alternatives(node: Node, text: (part: Node) => string): string[] {
  const between = (left: unknown, operators: readonly string[] | undefined, right: unknown): string[] =>
    isNode(left) && isNode(right)
      ? (operators ?? []).map((operator) => `((${text(left)}) ${operator} (${text(right)}))`)
      : [];
  const { operator } = node;
  switch (node.type) {
    case 'BinaryExpression':
      return between(node.left, COMPARISONS[String(operator)] ?? ARITHMETIC[String(operator)], node.right);
    case 'LogicalExpression':
      return between(node.left, LOGICAL[String(operator)], node.right);
    case 'UnaryExpression':
      return (operator === '!' || operator === '-') && isNode(node.argument)
        ? [`(${text(node.argument)})`]
        : [];
    case 'Literal':
      if (typeof node.value === 'boolean') return [String(!node.value)];
      if (typeof node.value === 'bigint') return [`(${text(node)} + 1n)`];
      return typeof node.value === 'number' ? [`(${text(node)} + 1)`] : [];
    default:
      return [];
  }
}

/** @param first number of the first switch */
export function instrument(file: string, source: string, first: number) {
  const mutations: Mutation[] = [];
  const text = (node: Node): string => source.slice(node.start, node.end);
  const lineOf = (node: Node): number => source.slice(0, node.start).split('\n').length;

  function switched(node: Node, becomes: string, otherwise: string): string {
    const number = first + mutations.push({ file, line: lineOf(node), was: text(node), becomes }) - 1;
    return `(globalThis.${SWITCH}(${number})?${becomes}:${otherwise})`;
  }

  function rendered(node: Node): string {
    let made = '';
    let at = node.start;
    for (const child of childrenOf(node)) {
      // A shorthand member has one position for key and value.
      if (child.start < at) continue;
      made += source.slice(at, child.start) + rendered(child);
      at = child.end;
    }
    made += source.slice(at, node.end);
    for (const becomes of alternatives(node, text)) made = switched(node, becomes, made);
    if (node.type === 'ReturnStatement' && isNode(node.argument) && text(node.argument) !== 'undefined') {
      const value = made.slice('return'.length).replace(/;$/, '');
      return `return ${switched(node.argument, 'undefined', `(${value})`)};`;
    }
    return made;
  }

  const { program } = parseSync(file, source);
  if (!isNode(program)) throw new Error(`${file} has no syntax tree`);
  return { code: rendered(program), mutations };
}
