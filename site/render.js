// The Worker's own type check covers no component, so it sees render.d.ts.
export { renderIslands } from './first-state.tsx';
