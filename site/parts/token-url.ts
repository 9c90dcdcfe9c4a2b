import type { Token } from '../../packages/client/src/index.ts';

/** The page of a token. */
export const tokenUrl = ({ id }: Pick<Token, 'id'>): string => `/token?id=${id}`;
