/** The refusal of a request or payment that only a lost journal had recorded. */

/**
 * @param bornAt when the records began, in Unix milliseconds
 * @param contact how callers reach the operator
 */
export function olderThanRecords(bornAt: number, contact: string | undefined) {
  const recordsSince = new Date(bornAt).toISOString();
  const who = contact === undefined ? 'the operator' : `the operator (${contact})`;
  return {
    code: 'OLDER_THAN_RECORDS' as const,
    message: `The records of this service begin at ${recordsSince}. This payment or request is older: ask ${who} to settle it by hand.`,
    details: { recordsSince, ...(contact === undefined ? {} : { contact }) },
  };
}
