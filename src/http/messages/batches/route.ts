import type { BatchPage, BatchRow } from '../../../../db/batches/batches.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import type { Batches } from '../../../inference/batches/batches.ts';
import type { Caller } from '../../../inference/call.ts';
import { readJsonBytes } from '../../body.ts';
import { type Handler, json, publicOrigin, type RequestContext } from '../../endpoint.ts';
import type { InferenceRouteDeps } from '../../inference-route.ts';
import { readIdempotencyKey } from '../../serve-once.ts';
import { nativeHeaders, requireVersion } from '../route.ts';
import { readItems } from './read-items.ts';
import { batchRecord, resultsBody } from './view.ts';

/** The provider's limit for a body (Anthropic docs: Errors, 413). */
const MAX_BATCH_BODY_BYTES = 256 * 1024 * 1024;
const ROUTE = '/v1/messages/batches';
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;
const MAX_ID_CHARS = 100;

/** Dependencies of the batch routes. */
export interface BatchRouteDeps extends Pick<InferenceRouteDeps, 'authentication' | 'rateLimit'> {
  batches: () => Batches;
  /** The origin of `results_url`, if WEIR_PUBLIC_URL is set. */
  public_url?: string | undefined;
}

/** The six routes of message batches (spec: Message batches; Anthropic docs: Batch processing). */
export class BatchRoutes {
  constructor(private readonly deps: BatchRouteDeps) {}

  /** `POST /v1/messages/batches` */
  readonly create: Handler = async (context) => {
    const { request, server, bytes } = context;
    const key = await this.admit(context);
    const headers = nativeHeaders(request);
    const idempotency_key = readIdempotencyKey(request);
    // The origin is read first. So no error can occur between the creation and the response.
    const origin = this.originOf(context);
    // Receiving and storing a large body may take longer than Bun's idle timeout.
    server?.timeout(request, 0);
    const body = await readJsonBytes(request, bytes.of(key.id), MAX_BATCH_BODY_BYTES);
    const isFilesBeta = headers['anthropic-beta']?.includes('files-api') ?? false;
    const items = readItems(body, isFilesBeta);
    const repeatable =
      idempotency_key === undefined
        ? undefined
        : { route: ROUTE, idempotency_key, body_hash: await hashSlices(body) };
    const batch = await this.batches.create(key, headers, items, repeatable, context.record);
    return json(batchRecord(batch, origin));
  };

  /** `GET /v1/messages/batches?limit=&after_id=&before_id=` */
  readonly list: Handler = async (context) => {
    const { organization_id } = await this.admit(context);
    const page = pageOf(new URL(context.request.url).searchParams);
    const found = await this.batches.list(organization_id, page);
    const shown = found.slice(0, page.limit);
    const data = (page.before === undefined ? shown : shown.reverse()).map((batch) =>
      this.record(context, batch),
    );
    return json({
      data,
      has_more: found.length > page.limit,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
    });
  };

  /** `GET /v1/messages/batches/{message_batch_id}` */
  readonly get: Handler = async (context) => {
    const { organization_id } = await this.admit(context);
    const batch = await this.batches.get(idOf(context), organization_id);
    return json(this.record(context, batch));
  };

  /**
   * `GET /v1/messages/batches/{message_batch_id}/results`. Returns one line of JSON for each
   * request.
   */
  readonly results: Handler = async (context) => {
    const { organization_id } = await this.admit(context);
    const { id, status, archived_at } = await this.batches.get(idOf(context), organization_id);
    if (status !== 'ended') {
      throw new WeirError('invalid_request', `Batch ${id} has no results yet.`, {
        param: 'message_batch_id',
        hint: 'Wait for processing_status ended.',
      });
    }
    if (archived_at) throw new WeirError('not_found', `The results of ${id} are archived.`);
    context.server?.timeout(context.request, 0);
    return new Response(resultsBody(this.batches.results(id)), {
      headers: { 'content-type': 'application/x-jsonl' },
    });
  };

  /** `POST /v1/messages/batches/{message_batch_id}/cancel` */
  readonly cancel: Handler = async (context) => {
    const { organization_id } = await this.admit(context);
    const batch = await this.batches.cancel(idOf(context), organization_id);
    return json(this.record(context, batch));
  };

  /** `DELETE /v1/messages/batches/{message_batch_id}` */
  readonly delete: Handler = async (context) => {
    const { organization_id } = await this.admit(context);
    const id = idOf(context);
    await this.batches.delete(id, organization_id);
    return json({ id, type: 'message_batch_deleted' });
  };

  private record(context: RequestContext, batch: BatchRow) {
    return batchRecord(batch, this.originOf(context));
  }

  private originOf({ request }: RequestContext): string {
    return publicOrigin(request, this.deps.public_url);
  }

  private get batches(): Batches {
    return this.deps.batches();
  }

  private async admit(context: RequestContext): Promise<Caller> {
    const key = await this.deps.authentication.requireKey(context, 'anthropic');
    await this.deps.rateLimit.consume(key, context);
    requireVersion(context);
    return key;
  }
}

/** A large body is hashed in slices of this size. Between two slices Weir can serve other calls. */
const HASH_SLICE_BYTES = 1024 * 1024;

/** Returns the SHA-256 of a large body, hex. */
async function hashSlices(bytes: Uint8Array): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  for (let start = 0; start < bytes.byteLength; start += HASH_SLICE_BYTES) {
    hasher.update(bytes.subarray(start, start + HASH_SLICE_BYTES));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return hasher.digest('hex');
}

function idOf({ params }: RequestContext): string {
  return (params['id'] ?? '').slice(0, MAX_ID_CHARS);
}

function pageOf(query: URLSearchParams): BatchPage {
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    const message = `limit: must be a whole number from 1 to ${MAX_LIMIT}.`;
    throw new WeirError('invalid_request', message, { param: 'limit' });
  }
  const after = cursorOf(query, 'after_id');
  const before = cursorOf(query, 'before_id');
  if (after !== undefined && before !== undefined) {
    const message = 'before_id: cannot be combined with after_id.';
    throw new WeirError('invalid_request', message, { param: 'before_id' });
  }
  return { limit, after, before };
}

function cursorOf(query: URLSearchParams, name: string): string | undefined {
  return query.get(name)?.slice(0, MAX_ID_CHARS) || undefined;
}
