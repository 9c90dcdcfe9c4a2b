/**
 * The ownership proof: both reserve keys sign one text, at most once an hour, and each proof names its
 * predecessor. Without the Bitcoin key, the text is a draft that the operator signs elsewhere.
 * @module
 */
import {
  buildProofMessage,
  type ProofMessage,
  parseProofMessage,
  proofHash,
} from '../../chain/bitcoin/proof-message.ts';
import { verifyMessage } from '../../chain/bitcoin/signed-message.ts';
import { isTimeOver } from '../../core/due-time.ts';
import { DAY_MS, HOUR_MS } from '../../core/durations.ts';
import { failureReason, upstreamFailed } from '../../core/errors.ts';
import type { ProofAnswer, ProofDraft, ProofRecord, Refusal } from '../api.ts';
import type { MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { ProofSigner } from '../kernel/signer.ts';
import { agreeAtTip, type ReserveView } from './reserve-views.ts';

/** One Solana node's figures for the reserve, all at finalized. */
export type SolanaFigures = Pick<ProofMessage, 'solanaLamports' | 'solanaTip' | 'absr'>;

export type ProofPorts = {
  /** Host of the service, with its port if it has one. */
  readonly service: string;
  readonly bitcoinAddress: string;
  readonly signer: ProofSigner;
  /** Number of configured Bitcoin indexes. */
  readonly indexes: number;
  /** One view per index; failing indexes are left out. */
  reserveViews(depth: number): Promise<ReserveView[]>;
  /** @throws AppError UPSTREAM_FAILED */
  solanaFigures(): Promise<SolanaFigures>;
  /** Reason why nothing may be signed now. */
  readonly stop: () => string | undefined;
};

export const PROOF_EVERY_MS = HOUR_MS;
/** After a failure, calls wait this long for the next try; a cron tick does not. */
const RETRY_MS = 30_000;
/** Reads of the indexes for one proof while their tips differ. */
const TIP_ATTEMPTS = 3;
/** A draft is signed by hand, and access to a cold key may take days. */
const DRAFT_LIFE_MS = 7 * DAY_MS;

const LAST = 'proof';
const DRAFT = 'proof_draft';

const columnsOf = (proof: ProofRecord, createdAt: number) => ({
  hash: proof.hash,
  created_at: new Date(createdAt).toISOString(),
  journal: JSON.stringify(proof),
});

/** The stored proof, which is the predecessor of the next one, and its row in D1. D1 alone keeps the earlier ones. */
function createProofRows({ journal, storage, now }: ModuleTools) {
  const stored = (): ProofRecord | undefined => {
    const text = journal.getMeta(LAST);
    return text ? (JSON.parse(text) as ProofRecord) : undefined;
  };

  return {
    stored,

    /** Stores a proof and queues it for the archive, unless another proof has followed `previous` meanwhile. */
    keep: (proof: ProofRecord, previous: ProofRecord | undefined): boolean =>
      storage.transaction(() => {
        const known = stored();
        if (known && known.hash !== previous?.hash) return false;
        journal.setMeta(LAST, JSON.stringify(proof));
        journal.publish('proofs', proof.timestamp, columnsOf(proof, now()), now());
        return true;
      }),

    /** The newest proof, the only one that the journal keeps. */
    mirrored: {
      table: 'proofs',
      rowsAfter(id) {
        const proof = stored();
        if (!proof || proof.timestamp <= id) return [];
        return [{ id: proof.timestamp, columns: columnsOf(proof, Date.parse(proof.timestamp)) }];
      },
      restore(text) {
        const { timestamp } = JSON.parse(text) as ProofRecord;
        if (timestamp <= (stored()?.timestamp ?? '')) return false;
        journal.setMeta(LAST, text);
        return true;
      },
    } satisfies MirrorSource,
  };
}

/**
 * A block that arrives between the reads of two indexes is shown by only one of them, so both are read again.
 */
async function agreedReserve(p: Pick<ProofPorts, 'reserveViews' | 'indexes'>) {
  for (let attempt = 1; ; attempt += 1) {
    const agreed = agreeAtTip(await p.reserveViews(0), p.indexes);
    if (agreed.ok) return agreed;
    if (agreed.reason !== 'tips_apart' || attempt === TIP_ATTEMPTS) {
      throw upstreamFailed('esplora', agreed.reason);
    }
  }
}

/** The text of the proof that follows `previous`. @throws AppError UPSTREAM_FAILED */
async function proofText(p: ProofPorts, previous: ProofRecord | undefined, now: () => number) {
  const [agreed, solana] = await Promise.all([agreedReserve(p), p.solanaFigures()]);
  return buildProofMessage({
    service: p.service,
    bitcoinAddress: p.bitcoinAddress,
    solanaAddress: p.signer.solanaAddress,
    reserveSats: agreed.sats,
    bitcoinTip: agreed.tip,
    ...solana,
    time: new Date(now()).toISOString(),
    previousProof: previous?.hash ?? null,
  });
}

function proofOf(
  message: string,
  bitcoin: ProofRecord['bitcoin'],
  solana: string,
  offline: boolean,
): ProofRecord {
  return {
    message,
    timestamp: parseProofMessage(message).time,
    hash: proofHash(message, { bitcoin: bitcoin.signature, solana }),
    bitcoin,
    solana: { scheme: SOLANA_SCHEME, signature: solana },
    offline,
  };
}

export type Proofs = ReturnType<typeof createProofs>;

export function createProofs(tools: ModuleTools, p: ProofPorts) {
  const { journal, storage, now, log } = tools;
  const { signer } = p;
  const { stored, keep, mirrored } = createProofRows(tools);
  let retryAt = 0;
  let failure: string | undefined;
  let signing: Promise<void> | undefined;

  async function sign(): Promise<void> {
    const previous = stored();
    if (previous && !isDue(previous)) return;
    const text = await proofText(p, previous, now);
    const { solana, bitcoin } = await signer.sign(text);
    // Signing was stopped while the chains were read: the proof is discarded before any caller receives it.
    if (!bitcoin || p.stop()) return;
    const { scheme, signature, signatureUnprefixed: unprefixed = null } = bitcoin;
    keep(proofOf(text, { scheme, signature, unprefixed }, solana, false), previous);
  }

  /** One attempt shared by concurrent callers; after a failure the next one waits. */
  function signOnce(): Promise<void> {
    signing ??= sign()
      .then(
        () => {
          failure = undefined;
        },
        (error: unknown) => {
          failure = failureReason(error);
          retryAt = now() + RETRY_MS;
          log({ level: 'warn', event: 'proof_failed', reason: failure });
        },
      )
      .finally(() => {
        signing = undefined;
      });
    return signing;
  }

  const isDue = (proof: ProofRecord): boolean => Date.parse(proof.timestamp) + PROOF_EVERY_MS <= now();

  return {
    mirrored: [mirrored],

    /** Signs the hour's proof once it is due. After a failure the next tick retries. */
    async onCron(): Promise<void> {
      const proof = stored();
      if (!signer.holdsBitcoinKey || p.stop() || (proof && !isDue(proof))) return;
      await signOnce();
    },

    /** The newest proof; the first call signs one. */
    async proof(): Promise<ProofAnswer> {
      const known = stored();
      if (known && (!signer.holdsBitcoinKey || !isDue(known))) return { type: 'proof', proof: known };
      const why = p.stop();
      if (signer.holdsBitcoinKey && !why && isTimeOver(retryAt, RETRY_MS, now())) await signOnce();
      const proof = stored() ?? known;
      if (proof) return { type: 'proof', proof };
      if (!signer.holdsBitcoinKey) return refuse(WATCH_ONLY);
      return refuse({
        code: 'UPSTREAM_FAILED',
        message: 'No proof can be signed now, because the chains cannot be read or signing is stopped.',
        retryAfterSeconds: RETRY_MS / 1_000,
        details: { reason: why ?? failure ?? 'unknown' },
      });
    },

    /**
     * The text for an offline signature. It stays the same until it is signed, expires or a newer proof
     * exists.
     */
    async draft(): Promise<ProofDraft> {
      const why = p.stop();
      if (why) return refuse(signingStopped(why));
      const previous = stored();
      const kept = journal.getMeta(DRAFT);
      if (kept && isCurrent(kept, previous)) return { type: 'draft', message: kept };
      const text = await proofText(p, previous, now);
      journal.setMeta(DRAFT, text);
      return { type: 'draft', message: text };
    },

    /** Checks an offline signature of the draft, adds the Solana one and archives both. */
    async submit(signature: string): Promise<ProofAnswer> {
      const text = journal.getMeta(DRAFT);
      const previous = stored();
      if (!text || !isCurrent(text, previous)) {
        return refuse({
          code: 'NOT_FOUND',
          message: 'There is no current draft. Request the message first.',
        });
      }
      const checked = verifyMessage({ address: p.bitcoinAddress, message: text, signature });
      if (checked.verdict !== 'valid' || !checked.scheme) {
        const reason = checked.verdict === 'valid' ? 'scheme' : checked.reason;
        const message = `This is not a signature of the draft by ${p.bitcoinAddress}.`;
        return refuse({ code: 'INVALID_INPUT', message, details: { reason } });
      }
      const why = p.stop();
      if (why) return refuse(signingStopped(why));
      const { solana } = await signer.sign(text);
      const bitcoin = { scheme: checked.scheme, ...spellings(checked.scheme, signature) };
      const proof = proofOf(text, bitcoin, solana, true);
      if (!keep(proof, previous)) {
        return refuse({
          code: 'NOT_FOUND',
          message: 'Another proof was stored in the meantime. Request the message again.',
        });
      }
      journal.setMeta(DRAFT, '');
      await storage.sync();
      return { type: 'proof', proof };
    },
  };

  function isCurrent(text: string, previous: ProofRecord | undefined): boolean {
    const { time, previousProof, service, bitcoinAddress, solanaAddress } = parseProofMessage(text);
    return (
      previousProof === (previous?.hash ?? null) &&
      Date.parse(time) + DRAFT_LIFE_MS > now() &&
      service === p.service &&
      bitcoinAddress === p.bitcoinAddress &&
      solanaAddress === signer.solanaAddress
    );
  }
}

const SOLANA_SCHEME = 'ed25519-utf8';

const refuse = (refusal: Refusal): { readonly type: 'refused'; readonly refusal: Refusal } => ({
  type: 'refused',
  refusal,
});

const signingStopped = (reason: string): Refusal => ({
  code: 'UPSTREAM_FAILED',
  message: 'Signing is stopped.',
  details: { reason },
});

const WATCH_ONLY: Refusal = {
  code: 'NOT_CONFIGURED',
  message: 'The Bitcoin address is watch-only and no proof has been signed for it yet.',
  details: { variables: 'BTC_PRIVATE_KEY_WIF', watchOnly: true },
};

/**
 * The two encodings of a BIP-322 simple signature: the form written since 2026 and the form for older
 * verifiers. Any other scheme has one encoding.
 */
function spellings(scheme: string, signature: string): { signature: string; unprefixed: string | null } {
  if (scheme !== 'bip322-simple') return { signature, unprefixed: null };
  const bare = signature.replace(/^smp/, '');
  return { signature: `smp${bare}`, unprefixed: bare };
}
