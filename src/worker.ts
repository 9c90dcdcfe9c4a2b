import { DurableObject } from 'cloudflare:workers';

export class Custodian extends DurableObject {}

export default {
  fetch: () => Response.json({ ok: true }),
} satisfies ExportedHandler;
