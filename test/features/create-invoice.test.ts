import { describe, expect, it } from 'vitest';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { chargedFee, createInvoice } from '../../src/features/tokens/create-invoice.ts';
import type { TokenRequest } from '../../src/features/tokens/token-request.ts';
import { eachScene } from '../kit/scenes.ts';
import {
  CREATOR,
  invoiceDeps,
  newTokenService,
  RESERVE,
  rentOf,
  type TokenService,
  TREASURY,
} from './token-service.ts';

const asked = (over: Partial<TokenRequest> = {}): TokenRequest => ({
  ...{ name: 'Moon Cat', symbol: 'MCAT', decimals: 6, supply: 5_000_000n, description: 'Cats on the moon' },
  ...{ image: null, creator: CREATOR, revokeFreeze: false, revokeMint: false, revokeUpdate: false },
  ...{ metaplex: false, program: undefined },
  ...over,
});

const create = (service: TokenService, over: Partial<TokenRequest> = {}) =>
  createInvoice(invoiceDeps(service), asked(over), '203.0.113.1');

const DESIGNS: Readonly<Record<string, Partial<TokenRequest>>> = {
  'Token-2022': {},
  classic: { program: 'token' },
  Metaplex: { metaplex: true },
  'without supply': { supply: 0n },
  'a name of one byte': { name: 'a' },
  'a name of two bytes': { name: 'é' },
  'the longest texts': { name: 'é'.repeat(16), symbol: 'A'.repeat(10) },
};
/** Bytes of mint, metadata and account, the fee of the Metaplex program, and the price with the margin of 0.01 SOL. */
eachScene(`
  Token-2022               | 419 | 0   | 170 | 0        | 15895200
  classic                  | 82  | 0   | 165 | 0        | 13514880
  Metaplex                 | 82  | 607 | 165 | 10000000 | 28630480
  without supply           | 419 | 0   | 0   | 0        | 13821120
  classic, without supply  | 82  | 0   | 0   | 0        | 11475600
  Metaplex, without supply | 82  | 607 | 0   | 10000000 | 26591200
  a name of one byte       | 412 | 0   | 170 | 0        | 15846480
  a name of two bytes      | 413 | 0   | 170 | 0        | 15853440
  the longest texts        | 449 | 0   | 170 | 0        | 16104000
`)('a token of the design %s pays the rent of %s, %s and %s bytes and %s lamports: %s', async (...scene) => {
  const [design = '', mint, metadata, account, metaplex = '', price = ''] = scene;
  const service = newTokenService();
  const { fee } = await create(
    service,
    Object.assign({}, ...design.split(', ').map((each) => DESIGNS[each])),
  );
  const rents = [mint, metadata, account].map((bytes) => (bytes === '0' ? 0n : rentOf(Number(bytes))));
  expect([fee.mintRent, fee.metadataRent, fee.accountRent, fee.metadataFee]).toEqual([
    ...rents,
    BigInt(metaplex),
  ]);
  expect(chargedFee(fee)).toBe(BigInt(price));
  const costLamports = String(BigInt(price) - 10_000_000n);
  expect(service.opened).toMatchObject([{ baseFeeLamports: BigInt(price), subject: { costLamports } }]);
});

describe('before a fee is charged', () => {
  it('simulates the whole token creation with the longest possible uri before a fee is charged', async () => {
    const service = newTokenService();
    await create(service, { revokeMint: true, revokeUpdate: true });
    expect(service.simulated).toHaveLength(1);
    expect(new TextDecoder().decode(service.simulated[0])).toContain(
      `https://sluice.test/api/tokens/${'1'.repeat(44)}/metadata.json`,
    );
  });

  it('refuses a creation that the chain would refuse, shows the reason, and opens no invoice', async () => {
    const service = newTokenService();
    service.refuses = 'InstructionError 3 Custom 1';
    const refused = { code: 'CREATION_REFUSED', details: { reason: service.refuses } };
    await expect(create(service)).rejects.toMatchObject(refused);
    expect(service.opened).toEqual([]);
  });

  it('refuses Metaplex metadata when the Metaplex program is not on the chain', async () => {
    const service = newTokenService();
    service.metaplex = false;
    await expect(create(service, { metaplex: true })).rejects.toMatchObject({ code: 'METAPLEX_UNAVAILABLE' });
    expect([service.opened, service.simulated]).toEqual([[], []]);
  });
});

describe('the creator of a token', () => {
  const SYSTEM = '11111111111111111111111111111111';
  const LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';

  it.each([
    ['the reserve', RESERVE, null],
    ['the treasury', TREASURY, null],
    ['the system program', SYSTEM, null],
    ['the token program', TOKEN_PROGRAM, null],
    ['a mint or a token account', CREATOR, TOKEN_PROGRAM],
    ['a program', CREATOR, LOADER],
  ])('refuses %s as the creator of a token, and opens no request', async (_what, creator, creatorOwner) => {
    const service = { ...newTokenService(), creatorOwner };
    const details = { issues: [{ path: 'creator_address' }] };
    await expect(create(service, { creator })).rejects.toMatchObject({ code: 'INVALID_INPUT', details });
    expect(service.opened).toEqual([]);
  });

  it.each([null, SYSTEM])('the creator is a wallet if its account is owned by: %s', async (creatorOwner) => {
    const service = { ...newTokenService(), creatorOwner };
    await create(service);
    expect(service.opened).toHaveLength(1);
  });

  it('a creator is not accepted while no node shows its account', async () => {
    const service = newTokenService();
    const deps = { ...invoiceDeps(service), ownerOf: () => Promise.reject(new Error('the node is down')) };
    await expect(createInvoice(deps, asked(), 'client')).rejects.toThrow('the node is down');
    expect(service.opened).toEqual([]);
  });
});
