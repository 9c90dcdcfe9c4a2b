/** The pages in the groups of the menu, with a line about each. */
export type Place = readonly [path: string, name: string, about: string];

export const GROUPS: readonly (readonly [id: string, name: string, places: readonly Place[]])[] = [
  [
    'reserve',
    'Reserve',
    [
      ['/', 'Overview', 'SOL, BTC and the ABSR token'],
      ['/reserves', 'Reserves and proof', 'Check the reserve in your browser'],
      ['/trust', 'Trust', 'Who holds the keys, what could go wrong'],
      ['/status', 'Status', 'Sources, limits, alarms'],
    ],
  ],
  [
    'use',
    'Use',
    [
      ['/swap', 'Swap', 'Swap reserve SOL for BTC'],
      ['/exchange', 'Exchange', 'Exchange your own coins'],
      ['/tokens', 'Tokens', 'Find, create or list a token'],
      ['/asry', 'ASRY', 'Fund the service, get its token'],
    ],
  ],
  [
    'read',
    'Read',
    [
      ['/pools', 'Pools', 'Prices and depth'],
      ['/nostr', 'Nostr', 'Posts about the reserve'],
      ['/visitors', 'Visitors', 'Page views, without cookies'],
    ],
  ],
  [
    'build',
    'Build',
    [
      ['/agents', 'Agents', 'MCP server and snippets'],
      ['/docs', 'API reference', 'Every operation, with examples'],
      ['/llms.txt', 'llms.txt', 'The API on one page of text'],
    ],
  ],
];
