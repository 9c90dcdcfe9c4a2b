/** The source of the check, the same for the browser and the terminal. @param source web address of the repository */
export const CheckSource = ({ source }: { source: string }) => (
  <a href={`${source}/blob/main/src/chain/bitcoin/proof-lines.ts`} rel="noopener noreferrer">
    the source of the check
  </a>
);
