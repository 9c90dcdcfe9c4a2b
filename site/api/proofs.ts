import type { Input, ProofHistory } from '../../packages/client/src/index.ts';
import { call } from './call.ts';

/** Maximum rows of one page of the archive. */
const PAGE = 100;

/** Every proof of the archive, newest first, read page by page. @throws CallFailed */
export async function* allProofs(
  input: Pick<Input<'listProofs'>, 'every'>,
): AsyncGenerator<ProofHistory['proofs'][number]> {
  let cursor: string | null = null;
  do {
    const { value }: Awaited<ReturnType<typeof call<'listProofs'>>> = await call('listProofs', {
      ...input,
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    yield* value.proofs;
    cursor = value.next_cursor;
  } while (cursor !== null);
}
