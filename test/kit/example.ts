import { EXAMPLES } from '../../scripts/documents/examples.ts';

/** A copy of a recorded response, which a test may change. */
export const exampleOf = (operationId: string, wanted = 'ok') => {
  const body = EXAMPLES[operationId]?.responses.find(({ name }) => name === wanted)?.body;
  if (body === undefined) throw new Error(`no example ${wanted} of ${operationId}`);
  return JSON.parse(JSON.stringify(body));
};
