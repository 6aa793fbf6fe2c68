import type { Sql, TransactionSql } from '../../../db/client.ts';
import {
  type ChangeId,
  claimChange,
  hasKeptChange,
  hasManyChanges,
  keepAnswer,
  MAX_KEPT_CHANGES,
} from '../../../db/repeats/kept-changes.ts';
import { sealBytes, unsealBytes } from '../../config/seal.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { reusedKeyError } from '../../inference/repeats/refusals.ts';
import type { RequestContext } from '../endpoint.ts';
import { readIdempotencyKey } from '../serve-once.ts';
import { Turns } from './turns.ts';

/** How long the answer of a change is kept for repeats of its request. */
const KEEP_CHANGES_MS = 24 * 3_600_000;
const RETRY_AFTER_S = 600;
const HEADER = 'Idempotency-Key';

/** All changes of this process. */
const turns = new Turns();

/** The parts that changes need. */
export interface ChangeDeps {
  readonly sql: Sql;
  /** Encrypts the answers that are kept for repeats; 32 bytes. */
  readonly answers_key: Uint8Array;
}

/** One request that changes something. */
export interface ChangeRequest {
  /** The organization that is changed; null = the installation. */
  readonly organization_id: string | null;
  /** The id of the token or of the person that sent the request. */
  readonly actor_id: string;
  /** The route. Idempotency keys of different routes are independent. */
  readonly route: string;
  /** The body as the client sent it; '' if there is none. */
  readonly body: string;
}

interface KeptAnswer {
  readonly status: number;
  readonly etag: string | null;
  readonly body: string;
}

/**
 * Makes a change in a transaction and returns its answer. If the request has an `Idempotency-Key`, the
 * change is made once, and a repeat gets the first answer, also a secret that is shown once. An error
 * changes nothing and is not kept. Throws WeirError if the key was used for another request, and the
 * errors of `change`.
 */
export function changeOnce(
  { sql, answers_key }: ChangeDeps,
  { request }: RequestContext,
  { organization_id, actor_id, route, body }: ChangeRequest,
  change: (tx: TransactionSql) => Promise<Response>,
): Promise<Response> {
  const owner = organization_id ?? '';
  const inTransaction = async (work: typeof change) => {
    const answer = await turns.run(owner, () => sql.begin(work) as Promise<Response>);
    // The answer may have a secret that is shown once.
    answer.headers.set('cache-control', 'no-store');
    return answer;
  };
  const idempotency_key = readIdempotencyKey(request);
  if (idempotency_key === undefined) return inTransaction(change);
  const id = identityOf({ organization_id, actor_id, route }, idempotency_key);
  const request_hash = Bun.SHA256.hash(`${new URL(request.url).pathname}\n${body}`, 'hex');
  return inTransaction(async (tx) => {
    const earlier = await claimChange(tx, id, request_hash, KEEP_CHANGES_MS);
    if (earlier) {
      if (earlier.request_hash !== request_hash) throw reusedKeyError();
      return responseOf(unsealed(answers_key, earlier.answer, id), true);
    }
    if (await hasManyChanges(tx, id.organization_id)) throw tooManyChanges();
    const { status, headers, text } = await textOf(await change(tx));
    const answer = { status, etag: headers.get('etag'), body: text };
    await keepAnswer(tx, id, sealed(answers_key, answer, id));
    return responseOf(answer, false);
  });
}

/**
 * True if the answer of an earlier request with the same `Idempotency-Key` is kept, so that `changeOnce`
 * will make no change. A change that needs slow work before its transaction then skips this work.
 */
export async function isRepeatedChange(
  { sql }: Pick<ChangeDeps, 'sql'>,
  { request }: RequestContext,
  change: Omit<ChangeRequest, 'body'>,
): Promise<boolean> {
  const idempotency_key = readIdempotencyKey(request);
  return idempotency_key !== undefined && hasKeptChange(sql, identityOf(change, idempotency_key));
}

function identityOf(
  { organization_id, actor_id, route }: Omit<ChangeRequest, 'body'>,
  idempotency_key: string,
): ChangeId {
  const repeat_hash = Bun.SHA256.hash(idempotency_key, 'hex');
  return { organization_id: organization_id ?? '', actor_id, route, repeat_hash };
}

/** So that an organization cannot fill the database with answers. */
function tooManyChanges(): WeirError {
  const message = `The answers of ${MAX_KEPT_CHANGES} changes are kept, and no more fit.`;
  return new WeirError('rate_limit_exceeded', message, {
    param: HEADER,
    hint: `Send the request without ${HEADER}, or later. An answer is kept for a day.`,
    retry_after: RETRY_AFTER_S,
  });
}

async function textOf(response: Response) {
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function responseOf({ status, etag, body }: KeptAnswer, isRepeat: boolean): Response {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (etag !== null) headers.set('etag', etag);
  if (isRepeat) headers.set('idempotent-replayed', 'true');
  return new Response(body, { status, headers });
}

function sealed(key: Uint8Array, answer: KeptAnswer, id: ChangeId): Uint8Array {
  return sealBytes(key, Buffer.from(JSON.stringify(answer)), contextOf(id));
}

/** Decrypts an answer. Throws WeirError if the key of the installation was changed meanwhile. */
function unsealed(key: Uint8Array, answer: Uint8Array, id: ChangeId): KeptAnswer {
  try {
    const plain = unsealBytes(key, answer, contextOf(id));
    return JSON.parse(plain.toString('utf8')) as KeptAnswer;
  } catch (error) {
    throw new WeirError(
      'idempotent_answer_not_kept',
      `The first request with this ${HEADER} made its change. Its answer cannot be decrypted any more.`,
      { param: HEADER, hint: 'GET the object to see what the first request made.' },
      error,
    );
  }
}

/** Ties an encrypted answer to its request. In another row it cannot be decrypted. */
function contextOf({ organization_id, actor_id, route, repeat_hash }: ChangeId): string {
  return JSON.stringify([organization_id, actor_id, route, repeat_hash]);
}
