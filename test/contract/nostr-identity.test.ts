import { fields, oneOf } from './shape.ts';
import { contractTable } from './stage.ts';

contractTable(
  [
    {
      row: 'GET /api/nostr/posts without an identity: 200 with NO_IDENTITY',
      request: 'GET /api/nostr/posts',
      status: 200,
      shape: fields({ ok: oneOf(false), code: oneOf('NO_IDENTITY') }),
    },
  ],
  { vars: { NOSTR_NPUB: '' } },
);
