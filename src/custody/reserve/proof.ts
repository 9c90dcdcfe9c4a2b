/**
 * The ownership proof: both reserve keys sign one message, once an hour and after each mint. Each proof names its
 * predecessor. Without the Bitcoin key, the message is a draft that the operator signs elsewhere.
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
import { DAY_MS, PROOF_EVERY_MS } from '../../core/durations.ts';
import { failureReason, upstreamFailed } from '../../core/errors.ts';
import type { ProofAnswer, ProofDraft, ProofRecord, Refusal } from '../api.ts';
import { refused } from '../kernel/begin-operation.ts';
import type { CustodyModule, MirrorSource, ModuleTools } from '../kernel/module.ts';
import type { ProofSigner } from '../kernel/signer.ts';
import { agreeAtTip, type ReserveView, type SolanaFigures } from './reserve-views.ts';

export type ProofPorts = {
  /** Host of the service, including its port if it has one. */
  readonly service: string;
  readonly bitcoinAddress: string;
  readonly signer: ProofSigner;
  readonly indexes: number;
  reserveViews(depth: number): Promise<ReserveView[]>;
  /** @throws AppError UPSTREAM_FAILED */
  solanaFigures(): Promise<SolanaFigures>;
  readonly stop: () => string | undefined;
  readonly lastMintSlot: () => bigint;
};

/** After a failure, calls wait this long before the next try. A cron run retries without this wait. */
const RETRY_MS = 30_000;
const TIP_ATTEMPTS = 3;
/** How long a draft can be signed. It is signed by hand, and access to a cold key can take days. */
const DRAFT_LIFE_MS = 7 * DAY_MS;

const LAST = 'proof';
const DRAFT = 'proof_draft';
/** Revision of the newest proof that was taken over from D1. */
const ADOPTED = 'proof_adopted';

export function newestProof(journal: ModuleTools['journal']): ProofRecord | undefined {
  const text = journal.getMeta(LAST);
  return text ? (JSON.parse(text) as ProofRecord) : undefined;
}

const columnsOf = (proof: ProofRecord, createdAt: number) => ({
  hash: proof.hash,
  created_at: new Date(createdAt).toISOString(),
  journal: JSON.stringify(proof),
});

/** If a block arrives between the two reads, only one index may show it. So both are read again. */
async function agreedReserve(ports: Pick<ProofPorts, 'reserveViews' | 'indexes'>) {
  for (let attempt = 1; ; attempt += 1) {
    const agreed = agreeAtTip(await ports.reserveViews(0), ports.indexes);
    if (agreed.ok) return agreed;
    if (agreed.reason !== 'tips_apart' || attempt === TIP_ATTEMPTS) {
      throw upstreamFailed('esplora', agreed.reason);
    }
  }
}

/** The message of the proof that follows `previous`. @throws AppError UPSTREAM_FAILED */
async function proofText(ports: ProofPorts, previous: ProofRecord | undefined, now: () => number) {
  const [agreed, solana] = await Promise.all([agreedReserve(ports), ports.solanaFigures()]);
  return buildProofMessage({
    service: ports.service,
    bitcoinAddress: ports.bitcoinAddress,
    solanaAddress: ports.signer.solanaAddress,
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

export class Proofs implements CustodyModule {
  readonly #tools: ModuleTools;
  readonly #ports: ProofPorts;
  #retryAt = 0;
  #failure: string | undefined;
  #signing: Promise<void> | undefined;

  constructor(tools: ModuleTools, ports: ProofPorts) {
    this.#tools = tools;
    this.#ports = ports;
  }

  /** The newest proof, which is the only one in the journal. Earlier proofs are only in D1. */
  readonly mirrored: readonly MirrorSource[] = [
    {
      table: 'proofs',
      rowsAfter: (id) => {
        const proof = this.#stored();
        if (!proof || proof.timestamp <= id) return [];
        return [{ id: proof.timestamp, columns: columnsOf(proof, Date.parse(proof.timestamp)) }];
      },
      adopt: (text, revision) => {
        const { journal } = this.#tools;
        if (revision < Number(journal.getMeta(ADOPTED) ?? 0)) return;
        journal.setMeta(ADOPTED, String(revision));
        journal.setMeta(LAST, text);
      },
    },
  ];

  #stored(): ProofRecord | undefined {
    return newestProof(this.#tools.journal);
  }

  /** Stores a proof and queues it for the archive, unless another successor of `previous` was stored meanwhile. */
  #keep(proof: ProofRecord, previous: ProofRecord | undefined): boolean {
    const { journal, storage, now } = this.#tools;
    return storage.transaction(() => {
      const known = this.#stored();
      if (known && known.hash !== previous?.hash) return false;
      journal.setMeta(LAST, JSON.stringify(proof));
      journal.queue.publish('proofs', proof.timestamp, columnsOf(proof, now()), now());
      return true;
    });
  }

  /** The newest proof, if it names the current service and addresses. */
  #current(): ProofRecord | undefined {
    const proof = this.#stored();
    return proof && this.#isOurs(parseProofMessage(proof.message)) ? proof : undefined;
  }

  #isOurs({ service, bitcoinAddress, solanaAddress }: ProofMessage): boolean {
    return (
      service === this.#ports.service &&
      bitcoinAddress === this.#ports.bitcoinAddress &&
      solanaAddress === this.#ports.signer.solanaAddress
    );
  }

  /** True if the proof is an hour old, or does not include the newest landed mint. */
  #isDue({ message, timestamp }: ProofRecord): boolean {
    const dueAt = Date.parse(timestamp) + PROOF_EVERY_MS;
    return isTimeOver(dueAt, PROOF_EVERY_MS, this.#tools.now()) || !this.#includesLastMint(message);
  }

  #includesLastMint(message: string): boolean {
    return parseProofMessage(message).solanaTip.slot >= this.#ports.lastMintSlot();
  }

  async #sign(): Promise<void> {
    const current = this.#current();
    if (current && !this.#isDue(current)) return;
    const previous = this.#stored();
    const text = await proofText(this.#ports, previous, this.#tools.now);
    if (!this.#includesLastMint(text)) throw upstreamFailed('solana', 'supply_outdated');
    const { solana, bitcoin } = await this.#ports.signer.sign(text);
    // If signing was stopped while the chains were read, the proof is discarded before callers receive it.
    if (!bitcoin || this.#ports.stop()) return;
    const { scheme, signature, signatureUnprefixed: unprefixed = null } = bitcoin;
    this.#keep(proofOf(text, { scheme, signature, unprefixed }, solana, false), previous);
  }

  /** One attempt shared by concurrent callers. After a failure, the next attempt waits. */
  #signOnce(): Promise<void> {
    const { now, log } = this.#tools;
    this.#signing ??= this.#sign()
      .then(
        () => {
          this.#failure = undefined;
        },
        (error: unknown) => {
          this.#failure = failureReason(error);
          this.#retryAt = now() + RETRY_MS;
          log({ level: 'warn', event: 'proof_failed', reason: this.#failure });
        },
      )
      .finally(() => {
        this.#signing = undefined;
      });
    return this.#signing;
  }

  /** Signs the hour's proof once it is due. After a failure the next cron run retries. */
  async onCron(): Promise<void> {
    const proof = this.#current();
    if (!this.#ports.signer.holdsBitcoinKey || this.#ports.stop() || (proof && !this.#isDue(proof))) return;
    await this.#signOnce();
  }

  /** Returns the newest proof. If it is missing or due, this call signs it first. */
  async proof(): Promise<ProofAnswer> {
    const { signer, stop } = this.#ports;
    const known = this.#current();
    if (known && (!signer.holdsBitcoinKey || !this.#isDue(known))) return { type: 'proof', proof: known };
    const why = stop();
    if (signer.holdsBitcoinKey && !why && isTimeOver(this.#retryAt, RETRY_MS, this.#tools.now()))
      await this.#signOnce();
    const proof = this.#current();
    if (proof) return { type: 'proof', proof };
    if (!signer.holdsBitcoinKey) return refused(WATCH_ONLY);
    return refused({
      code: 'UPSTREAM_FAILED',
      message: 'No proof can be signed now, because the chains cannot be read or signing is stopped.',
      retryAfterSeconds: RETRY_MS / 1_000,
      details: { reason: why ?? this.#failure ?? 'unknown' },
    });
  }

  /**
   * The message for an offline signature. It stays the same until it is signed or expires, or until a newer proof
   * exists.
   */
  async draft(): Promise<ProofDraft> {
    const { journal, now } = this.#tools;
    const why = this.#ports.stop();
    if (why) return refused(signingStopped(why));
    const previous = this.#stored();
    const kept = journal.getMeta(DRAFT);
    if (kept && this.#isCurrent(kept, previous)) return { type: 'draft', message: kept };
    const text = await proofText(this.#ports, previous, now);
    journal.setMeta(DRAFT, text);
    return { type: 'draft', message: text };
  }

  /** Checks an offline signature of the draft, adds the Solana signature and archives both. */
  async submit(signature: string): Promise<ProofAnswer> {
    const { journal, storage } = this.#tools;
    const { bitcoinAddress, signer, stop } = this.#ports;
    const text = journal.getMeta(DRAFT);
    const previous = this.#stored();
    if (!text || !this.#isCurrent(text, previous)) {
      return refused({
        code: 'NOT_FOUND',
        message: 'There is no current draft. Request the message first.',
      });
    }
    const checked = verifyMessage({ address: bitcoinAddress, message: text, signature });
    if (checked.verdict !== 'valid' || !checked.scheme) {
      const reason = checked.verdict === 'valid' ? 'scheme' : checked.reason;
      const message = `This is not a signature of the draft by ${bitcoinAddress}.`;
      return refused({ code: 'INVALID_INPUT', message, details: { reason } });
    }
    const why = stop();
    if (why) return refused(signingStopped(why));
    const { solana } = await signer.sign(text);
    const bitcoin = { scheme: checked.scheme, ...spellings(checked.scheme, signature) };
    const proof = proofOf(text, bitcoin, solana, true);
    if (!this.#keep(proof, previous)) {
      return refused({
        code: 'NOT_FOUND',
        message: 'Another proof was stored in the meantime. Request the message again.',
      });
    }
    journal.setMeta(DRAFT, '');
    await storage.sync();
    return { type: 'proof', proof };
  }

  #isCurrent(text: string, previous: ProofRecord | undefined): boolean {
    const message = parseProofMessage(text);
    return (
      message.previousProof === (previous?.hash ?? null) &&
      Date.parse(message.time) + DRAFT_LIFE_MS > this.#tools.now() &&
      this.#isOurs(message)
    );
  }
}

const SOLANA_SCHEME = 'ed25519-utf8';

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
 * A BIP-322 simple signature is written with the prefix `smp` (2026) and without it, for older verifiers. Other schemes
 * have only one form.
 */
function spellings(scheme: string, signature: string): { signature: string; unprefixed: string | null } {
  if (scheme !== 'bip322-simple') return { signature, unprefixed: null };
  const bare = signature.replace(/^smp/, '');
  return { signature: `smp${bare}`, unprefixed: bare };
}
