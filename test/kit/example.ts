import { EXAMPLES } from '../../scripts/documents/examples.ts';

/** A copy of a recorded response, which a test may change. */
export const exampleOf = (operationId: string, wanted: 'ok' | 'dry_run' = 'ok') => {
  const body = EXAMPLES[operationId]?.responses[wanted];
  if (body === undefined) throw new Error(`no example ${wanted} of ${operationId}`);
  return JSON.parse(JSON.stringify(body));
};
