/** The page of a token. @param token its mint address, or its id, which the service redirects */
export const tokenUrl = (token: string | number): string => `/token/${token}`;
