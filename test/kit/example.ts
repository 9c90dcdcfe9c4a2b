import { EXAMPLES } from '../../scripts/documents/examples.ts';

/** A copy of a recorded response, which a test may change. */
export const exampleOf = (operationId: string) => {
  const body = EXAMPLES[operationId]?.responses.ok;
  if (body === undefined) throw new Error(`no example of ${operationId}`);
  return JSON.parse(JSON.stringify(body));
};
