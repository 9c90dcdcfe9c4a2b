/**
 * Pays the Solana Pay URL of an invoice with your own key, if it asks for at most MAX_SOL. Prints the signature.
 *
 *     npm install @solana/kit@8 @solana-program/system@0.14 @types/node
 *     node pay-invoice.ts SOLANA_PAY_URL MAX_SOL KEYPAIR.json https://api.mainnet-beta.solana.com
 *
 * Needs Node 22.18 or newer. KEYPAIR.json is the key file of `solana-keygen`.
 */
import { readFileSync, realpathSync } from 'node:fs';
import * as solana from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';

type Payment = { payUrl: string; maxSol: string; nodeUrl: string; secretKey: Uint8Array };

export async function payInvoice({ payUrl, maxSol, nodeUrl, secretKey }: Payment): Promise<string> {
  const { protocol, pathname, searchParams } = new URL(payUrl);
  if (protocol !== 'solana:' || searchParams.has('spl-token')) throw new Error('The URL asks for no SOL.');
  const amount = lamportsOf(searchParams.get('amount') ?? '');
  if (amount > lamportsOf(maxSol)) throw new Error(`The price is ${amount} lamports, above ${maxSol} SOL.`);
  const payer = await solana.createKeyPairSignerFromBytes(secretKey);
  const transfer = getTransferSolInstruction({
    source: payer,
    destination: solana.address(pathname),
    amount,
  });
  // The reference binds the payment to its invoice: a read-only account of the transfer.
  const references = searchParams
    .getAll('reference')
    .map((key) => ({ address: solana.address(key), role: solana.AccountRole.READONLY }));
  const node = solana.createSolanaRpc(nodeUrl);
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

function lamportsOf(sol: string): bigint {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d{1,9}))?$/.exec(sol) ?? [];
  if (whole === undefined) throw new Error(`"${sol}" is not an amount of SOL.`);
  return BigInt(whole + fraction.padEnd(9, '0'));
}

if (realpathSync(process.argv[1] ?? '') === import.meta.filename) {
  const [payUrl = '', maxSol = '', keyFile = '', nodeUrl = ''] = process.argv.slice(2);
  const secretKey = Uint8Array.from(JSON.parse(readFileSync(keyFile, 'utf8')) as number[]);
  console.log(await payInvoice({ payUrl, maxSol, nodeUrl, secretKey }));
}
