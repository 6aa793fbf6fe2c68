import { isTransient } from '../../../db/transient.ts';
import type { CatalogueFor } from '../../catalogue/catalogue.ts';
import type { ErrorId } from '../../errors/registry.ts';
import { errorBody } from '../../errors/render.ts';
import type { ErrorReport } from '../../errors/report.ts';
import { requestIdOf } from '../../errors/request-id.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { type BodyBudget, BytesInFlight } from '../../upstreams/transport/body-budget.ts';
import type { Draft, InferenceCall } from '../call.ts';
import type { InferencePort } from '../inference.ts';
import type { KeyCache } from '../keys/key-cache.ts';
import { failRecord } from '../records/call-ends.ts';
import type { CallRecord } from '../records/call-record.ts';
import type { CallRecords } from '../records/call-records.ts';
import { checkMessages } from '../requests/check-messages.ts';
import { refuseLargeImages } from '../requests/image-limit.ts';
import { resolveModel } from '../requests/resolve-model.ts';
import type { ItemCall, ItemOutcome } from './worker.ts';

/**
 * Errors after which the same request can succeed later, e.g. a rate limit. An item with such an
 * error is retried while its batch is open.
 */
const TEMPORARY_ERRORS: readonly ErrorId[] = [
  'rate_limit_exceeded',
  'all_channels_failed',
  'service_unavailable',
  'quota_in_flight',
  'balance_in_flight',
];
/** The most attempts of an item that fails with any other retryable error. */
const MAX_ATTEMPTS = 8;

/** Dependencies of `createItemCall`. */
export interface ItemCallDeps {
  readonly keys: KeyCache;
  readonly catalogue: CatalogueFor;
  readonly inference: () => InferencePort;
  readonly onError: ErrorReport;
  readonly records: CallRecords;
  /** Limits the requests and answers of all items, and those of clients. */
  readonly bodies: BodyBudget;
}

/**
 * Returns the function that runs one item of a batch as `POST /v1/messages` would (spec: Message
 * batches). The function throws if the replica stops or the database fails. After a throw the item
 * is unchanged, and runs again.
 */
export function createItemCall(deps: ItemCallDeps): (item: ItemCall) => Promise<ItemOutcome> {
  return async (item) => {
    const bytes = new BytesInFlight(deps.bodies);
    const record = beginRecord(deps, item);
    try {
      await runItem(deps, item, bytes, record);
      record.end();
      return { type: 'succeeded' };
    } catch (error) {
      // The replica stops, or the database failed. The row of the item is unchanged, and the next
      // worker of the batch runs the item again.
      if (item.signal.aborted || isTransient(error)) throw error;
      const outcome = outcomeOf(deps, item, error);
      if (outcome.type === 'errored') failRecord(record, error, false);
      return outcome;
    } finally {
      bytes.end();
      deps.records.discard(record);
    }
  };
}

/** Begins the record of one attempt. An attempt that is retried leaves no record. */
function beginRecord({ records }: ItemCallDeps, { request_id, batch, batch_id }: ItemCall) {
  const { key_id, organization_id, program } = batch;
  const arrived_ms = performance.now();
  const request = { id: request_id, arrived_ms, protocol: 'anthropic', program };
  const record = records.begin(request, { id: key_id, organization_id });
  record.batch_id = batch_id;
  return record;
}

async function runItem(
  deps: ItemCallDeps,
  item: ItemCall,
  bytes: BytesInFlight,
  record: CallRecord,
): Promise<void> {
  const key = await deps.keys.getActiveById(item.batch.key_id);
  bytes.of(key.id).countBody().add(Buffer.byteLength(item.params));
  const body = JSON.parse(item.params) as Record<string, unknown>;
  if (body['stream'] === true) {
    throw new WeirError('invalid_request', 'stream: is not supported in a batch.', {
      param: 'stream',
    });
  }
  checkMessages(body);
  refuseLargeImages('anthropic', body, item.params);
  record.addTags(key.call_tags);
  record.ask(body);
  const inference = deps.inference();
  const draft = item.draft as unknown as Draft | null;
  const model = resolveModel(
    deps.catalogue(key.organization_id),
    // A soft limit may have moved the attempt that stored the answer.
    draft?.model ?? String(body['model']),
    key,
    'anthropic',
    (candidate, caller) => inference.isCallable(candidate, caller),
  );
  const call: InferenceCall = {
    protocol: 'anthropic',
    request_id: item.request_id,
    key,
    model,
    body,
    body_text: item.params,
    stream: false,
    headers: item.batch.headers,
    signal: item.signal,
    bytes,
    storeDraft: item.storeDraft,
    record,
  };
  // An earlier attempt stored the answer. Only the charge of the answer is missing.
  if (draft && item.answer !== null) await inference.chargeDraft(call, draft);
  else await inference.run(call);
}

function outcomeOf(deps: ItemCallDeps, item: ItemCall, error: unknown): ItemOutcome {
  const request_id = requestIdOf(item.request_id);
  const weirError =
    error instanceof WeirError
      ? error
      : new WeirError('internal_error', 'Something went wrong on our side.', {}, error);
  const isTemporary = TEMPORARY_ERRORS.includes(weirError.id) && weirError.retryable;
  if (isTemporary || (weirError.retryable && item.attempts + 1 < MAX_ATTEMPTS)) {
    return { type: 'later', after_ms: (weirError.details.retry_after ?? 0) * 1_000 };
  }
  deps.onError(error, request_id);
  return { type: 'errored', error: JSON.stringify(errorBody(weirError, 'native', request_id)) };
}
