/** Compares the accounts that the settings name with what the chain shows. */
import { powerWords, tokenPowers } from '../../src/chain/solana/token-powers.ts';
import { decodeMint, type Mint, movableAtoms } from '../../src/chain/solana/token-program.ts';
import type { Config } from '../../src/config.ts';
import { formatAmount, SOL_DECIMALS } from '../../src/core/amount.ts';
import type { SolanaNode, SolanaRpc } from '../../src/providers/solana-rpc.ts';
import { type Finding, note, problem, problemIf } from './finding.ts';

/** The program that owns every wallet's account. */
const SYSTEM_PROGRAM = '11111111111111111111111111111111';
/** With more decimals, the sats of all bitcoins do not fit into a token amount of 64 bits. */
const MOST_ABSR_DECIMALS = 3;
/** With fewer decimals, small rewards round to nothing; with more, an epoch's cap does not fit into 64 bits. */
const ASRY_DECIMALS = { least: 6, most: 12 };

/** The allowance of the account that pays rewards, if the reserve's key does not own it. */
async function sourceFindings(config: Config, node: SolanaNode, reserve: string): Promise<Finding[]> {
  const { ASRY_MINT_ADDRESS: mint, ASRY_SOURCE_ACCOUNT: source } = config;
  if (!mint || !source) return [];
  const [account] = (await node.accounts([source], 'finalized')).accounts;
  const atoms = account ? movableAtoms(account.owner, account.data, mint, reserve) : 0n;
  return atoms > 0n
    ? [note('asry-allowance', `The reserve may pay ${atoms} atoms of ASRY out of ASRY_SOURCE_ACCOUNT.`, '')]
    : [
        problem(
          'asry-allowance',
          'The reserve may not move ASRY out of ASRY_SOURCE_ACCOUNT.',
          "Approve the reserve as its delegate with the owner's key: docs/run/runbook.md, ASRY from a cold account.",
        ),
      ];
}

/** Powers over holders that a mint of this service must not give to anybody. */
function powerFindings(name: string, mint: Mint | undefined): Finding[] {
  const powers = mint === undefined ? [] : tokenPowers(mint).filter((power) => power !== 'mint');
  return problemIf(
    powers.length > 0,
    'mint-powers',
    `${name} gives power over its holders: ${powers.map((power) => powerWords(power)[0]).join(', ')}.`,
    'Create a mint without it, as docs/run/deploy.md describes; a freeze authority can be given up with `spl-token authorize MINT freeze --disable`.',
  );
}

/** What the mints of ABSR and ASRY must be. */
function mintFindings(config: Config, reserve: string, absr?: Mint, asry?: Mint): Finding[] {
  const authority = config.ABSR_MINT_AUTHORITY ?? reserve;
  const isSwapped = asry?.mintAuthority === authority && absr?.mintAuthority !== authority;
  return [
    ...problemIf(
      isSwapped,
      'mints-swapped',
      'ABSR_MINT_ADDRESS and ASRY_MINT_ADDRESS are swapped: the authority of ABSR belongs to the mint that is named as ASRY.',
      'Swap the two addresses.',
    ),
    ...problemIf(
      !isSwapped && absr !== undefined && absr.mintAuthority !== authority,
      'absr-authority-foreign',
      `${config.ABSR_MINT_AUTHORITY ? 'ABSR_MINT_AUTHORITY' : 'The reserve'} is not the mint authority of ABSR_MINT_ADDRESS: the daily mint would fail.`,
      'Transfer the authority to it, or name the right mint.',
    ),
    ...powerFindings('ABSR_MINT_ADDRESS', absr),
    ...powerFindings('ASRY_MINT_ADDRESS', asry),
    ...problemIf(
      absr !== undefined && absr.decimals > MOST_ABSR_DECIMALS,
      'mint-decimals',
      `ABSR_MINT_ADDRESS has ${absr?.decimals} decimals: one ABSR is one sat, and has at most ${MOST_ABSR_DECIMALS}.`,
      'Create a mint with 0 to 3 decimals, as docs/run/deploy.md describes: decimals cannot be changed.',
    ),
    ...problemIf(
      asry !== undefined && (asry.decimals < ASRY_DECIMALS.least || asry.decimals > ASRY_DECIMALS.most),
      'mint-decimals',
      `ASRY_MINT_ADDRESS has ${asry?.decimals} decimals, not ${ASRY_DECIMALS.least} to ${ASRY_DECIMALS.most}.`,
      'Create a mint with 9 decimals, as docs/run/deploy.md describes: decimals cannot be changed.',
    ),
  ];
}

export async function checkAccounts(config: Config, rpc: SolanaRpc, reserve: string): Promise<Finding[]> {
  const named = [
    ...(['ABSR_MINT_ADDRESS', 'ASRY_MINT_ADDRESS'] as const).flatMap((name) =>
      config[name] ? [[name, config[name]] as const] : [],
    ),
    ...Object.entries(config.DOLLAR_MINTS).map(([asset, mint]) => [`DOLLAR_MINTS: ${asset}`, mint] as const),
  ];
  const wallets = (['RESERVE_SOLANA_ADDRESS', 'TREASURY_SOLANA_ADDRESS'] as const).flatMap((name) =>
    config[name] ? [[name, config[name]] as const] : [],
  );
  async function findingsOf(node: SolanaNode): Promise<Finding[]> {
    const addresses = [...wallets, ...named].map(([, address]) => address);
    const { accounts } = await node.accounts(addresses, 'finalized');
    const balance = accounts[0]?.lamports ?? 0n;
    const mints = named.map(([name], at) => {
      const account = accounts[wallets.length + at];
      return [name, account ? decodeMint(account.owner, account.data) : undefined] as const;
    });
    const absr = mints.find(([name]) => name === 'ABSR_MINT_ADDRESS')?.[1];
    const asry = mints.find(([name]) => name === 'ASRY_MINT_ADDRESS')?.[1];
    const low = 2n * config.RESERVE_FLOOR_SOL;
    return [
      ...wallets.flatMap(([name], at) => {
        const owner = accounts[at]?.owner ?? SYSTEM_PROGRAM;
        return problemIf(
          owner !== SYSTEM_PROGRAM,
          'address-not-a-wallet',
          `${name} belongs to the program ${owner}: it is a program, a mint or a token account.`,
          'SOL that is sent there is lost. Set the address of a wallet.',
        );
      }),
      ...mints.flatMap(([name, mint]) =>
        problemIf(
          mint === undefined,
          'mint-wrong',
          `${name} is not a token mint on this chain.`,
          'Correct the address. The nodes must be on mainnet.',
        ),
      ),
      ...mintFindings(config, reserve, absr, asry),
      ...(await sourceFindings(config, node, reserve)),
      ...problemIf(
        balance < low,
        'sol-low',
        `The reserve holds ${formatAmount(balance, SOL_DECIMALS)} SOL, less than twice RESERVE_FLOOR_SOL.`,
        'Send SOL to the reserve’s address.',
      ),
    ];
  }
  return rpc
    .first(findingsOf)
    .catch(() => [
      note('accounts-unseen', 'No node showed the reserve and the mints.', 'Repair the nodes first.'),
    ]);
}
