/** Name of the global that asks whether a mutation is on. */
export const SWITCH = '__mutated';
