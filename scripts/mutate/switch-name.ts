/** Name of the global function that returns whether a mutation is on. */
export const SWITCH = '__mutated';
