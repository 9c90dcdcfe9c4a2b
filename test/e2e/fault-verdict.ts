import type { Answer, Body, ReservePayment } from './swap-caller.ts';

/** The results of one cell: on both chains, in the mirror and in the responses. */
export interface Observation {
  /** The requested amount of each swap. */
  readonly amountSol: number;
  readonly amountLamports: bigint;
  readonly answers: readonly Answer[];
  /** Last status of every swap that has an id. */
  readonly ends: readonly Body[];
  /** Payments of the reserve in this time. */
  readonly payments: readonly ReservePayment[];
  /** Payments after the repeats. */
  readonly paymentsAtEnd: number;
  /** Satoshis that came to the reserve in this time. */
  readonly arrivedSats: bigint;
  readonly bitcoinPayment: (txid: string) => { readonly sats: bigint; readonly confirmed: boolean } | null;
  /** New rows of the mirror. */
  readonly rows: readonly Body[];
  /** The same creates with the same keys again; none when there was no row to read. */
  readonly repeats: readonly Answer[];
  /** Response to an estimate during the fault. */
  readonly estimate: Answer | undefined;
}

export interface Verdict {
  /** The outcome, in the words of the matrix. */
  readonly result: string;
  /** Violations; empty if there are none. */
  readonly violations: readonly string[];
}

function wordEnd({ status, detail, reason, btcSats }: Body, isPaid: boolean): string {
  if (status === 'finished') return 'finished';
  if (status === 'waiting') return `waiting: ${detail}`;
  if (!isPaid) return `failed: ${reason}, nothing spent`;
  return `failed: ${reason}, ${btcSats === null ? 'nothing' : 'less'} arrived`;
}

function wordRefusal({ status, body }: Answer, isSigned: boolean): string {
  const { reason } = (body.details ?? {}) as Body;
  return `${status} ${body.error_code} ${reason}, ${isSigned ? 'SIGNED' : 'nothing signed'}`;
}

const withoutRequestId = ({ body: { request_id: _, ...body } }: Answer): string => JSON.stringify(body);

/** Describes the outcome and compares it with the guarantees of every cell. */
export function judge(o: Observation): Verdict {
  const violations: string[] = [];
  const promise = (kept: boolean, otherwise: string): void => void (kept || violations.push(otherwise));
  const ids = o.answers.flatMap(({ status, body }) => (status === 200 ? [String(body.id)] : []));
  const paid = (id: unknown) => o.payments.filter(({ signature }) => signature === id).length;

  promise(new Set(ids).size === ids.length, 'one id for two swaps');
  for (const { status, body } of o.answers) {
    if (status === 200)
      promise(
        body.amountSol === o.amountSol && Number(body.expectedBtcSats) > 0,
        'created without its amounts',
      );
    else promise(typeof body.error_code === 'string', `a ${status} without a code`);
  }
  if (o.estimate?.status === 200)
    promise(Number(o.estimate.body.estimatedBtcSats) > 0, 'an estimate without an amount');

  for (const { signature, lamports } of o.payments) {
    promise(ids.includes(signature), `payment ${signature} that no response named`);
    promise(lamports === o.amountLamports, `a payment of ${lamports} lamports`);
  }
  for (const end of o.ends) {
    const row = o.rows.find(({ signature }) => signature === end.id);
    promise(end.amountSol === o.amountSol, 'a status without its amount');
    promise(paid(end.id) <= 1, `${paid(end.id)} payments for one swap`);
    promise(row?.status === end.status && row?.btc_sats === end.btcSatoshis, 'the mirror differs');
    if (end.reason === 'expired') promise(paid(end.id) === 0, 'expired, and yet it landed');
    if (end.status !== 'finished') continue;
    promise(paid(end.id) === 1, 'finished without a payment on Solana');
    promise(o.bitcoinPayment(String(end.txId))?.confirmed === true, 'finished without Bitcoin on the chain');
    promise(end.btcSats !== null && String(end.btcSats) === end.btcSatoshis, 'finished without an amount');
  }
  const reported = o.ends.reduce((sum, { btcSatoshis }) => sum + BigInt(String(btcSatoshis ?? 0)), 0n);
  promise(o.arrivedSats === reported, `${o.arrivedSats} sats arrived, ${reported} are reported`);

  const isSigned = o.rows.some(({ signature }) => signature !== null && !ids.includes(String(signature)));
  promise(!isSigned, 'a refused swap was signed');
  for (const [at, repeat] of o.repeats.entries()) {
    const first = o.answers[at];
    promise(
      first !== undefined && withoutRequestId(repeat) === withoutRequestId(first),
      `a repeat answers ${repeat.status} ${withoutRequestId(repeat)}`,
    );
    promise(repeat.headers.get('idempotency-replayed') === 'true', 'a repeat is not marked');
  }
  promise(o.paymentsAtEnd === o.payments.length, 'a repeat has paid');

  const refusal = o.answers.find(({ status }) => status !== 200);
  const result = refusal
    ? wordRefusal(refusal, isSigned)
    : ['200', ...new Set(o.ends.map((end) => wordEnd(end, paid(end.id) > 0)))].join(', ');
  return { result, violations };
}
