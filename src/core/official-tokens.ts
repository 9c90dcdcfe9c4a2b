/** The service's own tokens. */
export type OfficialAsset = 'ABSR' | 'ASRY';

export type OfficialMints = ReadonlyMap<string, OfficialAsset>;
