/**
 * Finds the small changes of a source file: of comparisons, operators, booleans, numbers and returned values.
 * @module
 */
import { parseSync } from 'vite';

export interface Change {
  /** Its path from the root. */
  readonly file: string;
  /** Offset in the source. */
  readonly start: number;
  readonly was: string;
  readonly becomes: string;
}

export interface Mutant {
  readonly name: string;
  readonly change: Change;
}

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>;

/** The operators that may replace each operator so that the code still runs. */
const OTHER_OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
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
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
};
/** TypeScript nodes that contain an expression, which may be changed. */
const VALUE_OF_TYPE = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression']);

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof Reflect.get(value, 'type') === 'string';

const childrenOf = (node: Node): Node[] =>
  Object.entries(node)
    .filter(([name]) => !(node.type === 'Property' && name === 'key' && node.computed !== true))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .filter(({ type }) => !type.startsWith('TS') || VALUE_OF_TYPE.has(type));

/** The expression as it would be after each of the usual mistakes. */
function alternatives(node: Node, text: (part: Node) => string): string[] {
  const { operator, left, right } = node;
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return isNode(left) && isNode(right)
        ? (OTHER_OPERATORS[String(operator)] ?? []).map(
            (other) => `((${text(left)}) ${other} (${text(right)}))`,
          )
        : [];
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

const short = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 70);

/** All small changes of a source file. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const text = (node: Node): string => source.slice(node.start, node.end);
  function mutant(node: Node, becomes: string): Mutant {
    const [line, was] = [source.slice(0, node.start).split('\n').length, text(node)];
    return {
      name: `${file}:${line} ${short(was)} -> ${short(becomes)}`,
      change: { file, start: node.start, was, becomes: `(${becomes})` },
    };
  }
  function within(node: Node): Mutant[] {
    const own = alternatives(node, text).map((becomes) => mutant(node, becomes));
    const { type, argument } = node;
    if (type === 'ReturnStatement' && isNode(argument) && text(argument) !== 'undefined')
      own.push(mutant(argument, 'undefined'));
    return [...childrenOf(node).flatMap(within), ...own];
  }
  const { program } = parseSync(file, source);
  if (!isNode(program)) throw new Error(`${file} has no syntax tree`);
  return within(program);
}
