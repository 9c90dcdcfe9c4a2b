import * as solana from '@solana/web3.js';
import { getTransferSolInstruction } from '@solana-program/system';

/** Pays a Solana Pay URL with a 64-byte secret key over a Solana node. @returns the signature */
export async function payInvoice(payUrl: string, nodeUrl: string, secretKey: Uint8Array): Promise<string> {
  const { pathname, searchParams } = new URL(payUrl);
  const [whole = '0', fraction = ''] = (searchParams.get('amount') ?? '').split('.');
  const amount = solana.lamports(BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0')));
  const payer = await solana.createKeyPairSignerFromBytes(secretKey);
  const node = solana.createSolanaRpc(nodeUrl);
  const transfer = getTransferSolInstruction({
    source: payer,
    destination: solana.address(pathname),
    amount,
  });
  // The reference binds the payment to its invoice: a read-only account of the transfer.
  const references = searchParams
    .getAll('reference')
    .map((key) => ({ address: solana.address(key), role: solana.AccountRole.READONLY }));
  const { value: blockhash } = await node.getLatestBlockhash().send();
  const message = solana.pipe(
    solana.createTransactionMessage({ version: 0 }),
    (draft) => solana.setTransactionMessageFeePayerSigner(payer, draft),
    (draft) => solana.setTransactionMessageLifetimeUsingBlockhash(blockhash, draft),
    (draft) =>
      solana.appendTransactionMessageInstruction(
        { ...transfer, accounts: [...transfer.accounts, ...references] },
        draft,
      ),
  );
  const signed = await solana.signTransactionMessageWithSigners(message);
  return node.sendTransaction(solana.getBase64EncodedWireTransaction(signed), { encoding: 'base64' }).send();
}
