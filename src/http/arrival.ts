import { shownPrefix } from '../../db/secrets.ts';
import type { ArrivalSlot } from '../inference/records/arrival-ring.ts';
import { programOf } from '../inference/records/program.ts';
import { readApiKey } from './auth/credentials.ts';
import type { RequestContext } from './endpoint.ts';

/**
 * Notes how a call ended, for operators who listen. A call without a valid key has no record, so what is
 * known of it comes from its request: the start of the key that was refused, and the path.
 */
export function noteEnd(
  slot: ArrivalSlot,
  { uuid, record, request }: RequestContext,
  status: number,
  failure: unknown,
): void {
  if (record) {
    slot.end(uuid, record, status, failure, undefined);
    return;
  }
  // Every route of every vendor may be meant, so the key may be in any header.
  const secret = readApiKey(request, 'gemini');
  slot.end(uuid, undefined, status, failure, {
    key_prefix: secret === null ? null : shownPrefix(secret),
    path: URL.canParse(request.url) ? new URL(request.url).pathname : '',
    program: programOf(request.headers.get('user-agent')),
  });
}
