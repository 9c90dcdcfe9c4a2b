/** The service's own tokens. */
export type OfficialAsset = 'ABSR' | 'ASRY';

/** Their configured mints. */
export type OfficialMints = ReadonlyMap<string, OfficialAsset>;
