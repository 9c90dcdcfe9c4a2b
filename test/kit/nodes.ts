/** The releases of Node on which the packages run, each with its program: that of the tests, and the one that CI installs. */
export const NODES: readonly (readonly [version: string, program: string])[] = [
  [process.versions.node, process.execPath],
  ...(process.env.NODE_22 ? [['22', process.env.NODE_22] as const] : []),
];
