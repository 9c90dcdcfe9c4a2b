import { describe, expect, it } from 'vitest';
import { creationCost, creationCosts, METAPLEX_FEE } from '../../src/chain/solana/token-creation.ts';
import { TOKEN_PROGRAM } from '../../src/chain/solana/token-program.ts';
import { chargedFee, createInvoice } from '../../src/features/tokens/create-invoice.ts';
import type { TokenRequest } from '../../src/features/tokens/token-request.ts';
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

describe('the price of an invoice', () => {
  it('the price of an invoice covers the creation cost in every variant and equals the sum of its parts', async () => {
    const texts = { name: 'é'.repeat(16), symbol: 'A'.repeat(10) };
    const classic = { program: 'token' as const };
    const variants = [{}, classic, { metaplex: true }, { supply: 0n }, { metaplex: true, supply: 0n }, texts];
    for (const over of variants) {
      const service = newTokenService();
      const { fee } = await create(service, over);
      const parts = [fee.mintRent, fee.metadataRent, fee.metadataFee, fee.accountRent, fee.networkFee];
      const cost = parts.reduce((sum, part) => sum + part, 0n);
      expect(creationCost(fee)).toBe(cost);
      expect(chargedFee(fee)).toBe(cost + 10_000_000n);
      expect(service.opened[0]?.baseFeeLamports).toBe(cost + 10_000_000n);
      expect(service.opened[0]?.subject.costLamports).toBe(cost.toString());
      expect(fee.networkFee).toBeGreaterThanOrEqual(10_000n);
    }
  });

  it('the price of an invoice includes rent only for the parts that are created, and the Metaplex fee if used', async () => {
    const plain = await create(newTokenService(), { program: 'token', supply: 0n });
    const none = { metadataRent: 0n, metadataFee: 0n, accountRent: 0n };
    expect(plain.fee).toMatchObject({ mintRent: rentOf(82), ...none });
    const { fee } = await create(newTokenService(), { metaplex: true });
    expect([fee.mintRent, fee.metadataRent, fee.accountRent]).toEqual([82, 607, 165].map(rentOf));
    expect(fee.metadataFee).toBe(METAPLEX_FEE);
    const modern = await create(newTokenService());
    expect(modern.fee.accountRent).toBe(rentOf(170));
    expect(modern.fee.mintRent).toBeGreaterThan(rentOf(234));
  });

  it('the price of an invoice grows with the bytes of its texts, not with the number of characters', async () => {
    const design = { ...asked(), program: 'token-2022' as const, uri: 'https://example.org' };
    const short = creationCosts({ ...design, name: 'a' }, 128n);
    const long = creationCosts({ ...design, name: 'é'.repeat(16) }, 128n);
    expect(long.mintRent - short.mintRent).toBe(31n);
  });
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
  ])('the creator of a token is not %s, and no request is opened', async (_what, creator, creatorOwner) => {
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
