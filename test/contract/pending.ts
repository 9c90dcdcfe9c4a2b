/**
 * Rows of the contract whose feature is not built: `table > row`, by area. None of their calls may exist; a feature that
 * is built turns its rows on by taking them out of this list.
 */
export const PENDING: Readonly<Record<string, readonly string[]>> = {};
