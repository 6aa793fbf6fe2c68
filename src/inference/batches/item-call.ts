import { isTransient } from '../../../db/transient.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ErrorId } from '../../errors/registry.ts';
import { nativeEnvelope } from '../../errors/render.ts';
import type { ErrorReport } from '../../errors/report.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Draft, InferenceCall } from '../call.ts';
import type { InferencePort } from '../inference.ts';
import type { KeyCache } from '../keys/key-cache.ts';
import { checkMessages } from '../requests/check-messages.ts';
import { resolveModel } from '../requests/resolve-model.ts';
import type { ItemCall, ItemOutcome } from './worker.ts';

/** What passes by itself is waited for as long as the batch lives. */
const PATIENT: readonly ErrorId[] = [
  'rate_limit_exceeded',
  'all_channels_failed',
  'service_unavailable',
  'quota_in_flight',
  'balance_in_flight',
];
/** Attempts at an item whose own call keeps failing. */
const MAX_ATTEMPTS = 8;

export interface ItemCallDeps {
  readonly keys: KeyCache;
  readonly catalogue: () => Catalogue;
  readonly inference: () => InferencePort;
  readonly onError: ErrorReport;
}

/** Carries out one item of a batch as `POST /v1/messages` would have (spec: Message batches). */
export function createItemCall(deps: ItemCallDeps): (item: ItemCall) => Promise<ItemOutcome> {
  return async (item) => {
    try {
      await carryOut(deps, item);
      return { type: 'succeeded' };
    } catch (error) {
      // Not the item's fault: it stays as it is, and whoever works on the batch next finds it.
      if (item.signal.aborted || isTransient(error)) throw error;
      return outcomeOf(deps, item, error);
    }
  };
}

async function carryOut(deps: ItemCallDeps, item: ItemCall): Promise<void> {
  const key = await deps.keys.findActiveById(item.batch.key_id);
  const body = JSON.parse(item.params) as Record<string, unknown>;
  if (body['stream'] === true) {
    throw new WeirError('invalid_request', 'stream: is not supported in a batch.', {
      param: 'stream',
    });
  }
  checkMessages(body);
  const inference = deps.inference();
  const model = resolveModel(
    deps.catalogue(),
    String(body['model']),
    key,
    'anthropic',
    (each, caller) => inference.isCallable(each, caller),
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
    storeDraft: item.keepDraft,
  };
  const draft = item.draft as unknown as Draft | null;
  // The answer is there: it is only paid for.
  if (draft && item.answer !== null) await inference.chargeDraft(call, draft);
  else await inference.run(call);
}

function outcomeOf(deps: ItemCallDeps, item: ItemCall, error: unknown): ItemOutcome {
  const request_id = `req_${item.request_id.replaceAll('-', '')}`;
  const known =
    error instanceof WeirError
      ? error
      : new WeirError('internal_error', 'Something went wrong on our side.', {}, error);
  const isPatient = PATIENT.includes(known.id) && known.retryable;
  if (isPatient || (known.retryable && item.attempts + 1 < MAX_ATTEMPTS)) {
    return { type: 'later', after_ms: (known.details.retry_after ?? 0) * 1_000 };
  }
  deps.onError(error, request_id);
  return { type: 'errored', error: JSON.stringify(nativeEnvelope(known, request_id)) };
}
