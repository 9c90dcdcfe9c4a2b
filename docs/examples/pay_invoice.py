"""Pays the Solana Pay URL of an invoice with your own key, if it asks for at most MAX_SOL. Prints the signature.

    pip install solders
    python pay_invoice.py SOLANA_PAY_URL MAX_SOL KEYPAIR.json https://api.mainnet-beta.solana.com
"""
import base64, json, sys
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.keypair import Keypair
from solders.message import Message
from solders.pubkey import Pubkey
from solders.system_program import TransferParams, transfer
from solders.transaction import VersionedTransaction

pay_url, max_sol, key_file, node_url = sys.argv[1:]
url, query = urlsplit(pay_url), parse_qs(urlsplit(pay_url).query)
lamports = Decimal(query["amount"][0]) * 10**9
if url.scheme != "solana" or "spl-token" in query or lamports % 1 or lamports > Decimal(max_sol) * 10**9:
    sys.exit(f"The URL asks for no SOL, or for more than {max_sol}: {pay_url}")


def call(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    with urlopen(Request(node_url, body, {"Content-Type": "application/json"})) as response:
        reply = json.load(response)
    return reply["result"] if "result" in reply else sys.exit(reply["error"]["message"])


with open(key_file) as file:
    payer = Keypair.from_bytes(bytes(json.load(file)))
to = Pubkey.from_string(url.path)
pay = transfer(TransferParams(from_pubkey=payer.pubkey(), to_pubkey=to, lamports=int(lamports)))
# The reference binds the payment to its invoice: a read-only account of the transfer.
references = [AccountMeta(Pubkey.from_string(key), False, False) for key in query["reference"]]
instruction = Instruction(pay.program_id, pay.data, [*pay.accounts, *references])
blockhash = Hash.from_string(call("getLatestBlockhash")["value"]["blockhash"])
message = Message.new_with_blockhash([instruction], payer.pubkey(), blockhash)
signed = bytes(VersionedTransaction(message, [payer]))
print(call("sendTransaction", base64.b64encode(signed).decode(), {"encoding": "base64"}))
