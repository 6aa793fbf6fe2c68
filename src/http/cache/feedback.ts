import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { CacheChanges } from '../../inference/cache/cache-changes.ts';
import { entryIdOf } from '../../inference/cache/entry.ts';
import { storable } from '../../inference/records/storable.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject } from '../body.ts';
import { type Handler, json } from '../endpoint.ts';
import type { InferenceRouteDeps } from '../inference-route.ts';
import { uuidOfEntry } from './entry-id.ts';

/** What a client can say of an answer. All but `good` say that it is bad. */
const FEEDBACK_TYPES = ['wrong_answer', 'outdated', 'unsafe', 'irrelevant', 'good'] as const;
const MAX_DESCRIPTION_CHARS = 2_000;

/** `POST /v1/cache/feedback` */
export const CacheFeedbackSchema = Type.Object(
  {
    cache_entry_id: Type.String({ errorMessage: 'must be the id of an entry or of a request' }),
    feedback_type: Type.Union(
      FEEDBACK_TYPES.map((type) => Type.Literal(type)),
      { errorMessage: `must be one of ${FEEDBACK_TYPES.join(', ')}` },
    ),
    description: Type.Optional(
      Type.String({
        maxLength: MAX_DESCRIPTION_CHARS,
        errorMessage: `must be a text of at most ${MAX_DESCRIPTION_CHARS} characters`,
      }),
    ),
  },
  { additionalProperties: false },
);
const validate = validator(CacheFeedbackSchema);

/** Dependencies of the feedback route. */
export interface CacheFeedbackDeps
  extends Pick<InferenceRouteDeps, 'authentication' | 'rateLimit'> {
  cacheChanges: () => CacheChanges;
}

/**
 * `POST /v1/cache/feedback` (spec: Cache controls and feedback): a vote of a key on a stored answer. An id
 * of another organization answers like one that does not exist (P6).
 */
export function cacheFeedback(deps: CacheFeedbackDeps): Handler {
  return async (context) => {
    const key = await deps.authentication.requireKey(context);
    await deps.rateLimit.consume(key, context);
    const bytes = context.bytes.of(key.id);
    const { value } = await readJsonObject(context.request, bytes, MAX_MANAGEMENT_BODY_BYTES);
    const { cache_entry_id, feedback_type, description = '' } = validate(value);
    const request_id = uuidOfEntry(cache_entry_id);
    const voted =
      request_id === undefined
        ? undefined
        : await deps.cacheChanges().vote({
            ...{ request_id, organization_id: key.organization_id, key_id: key.id, feedback_type },
            description: storable(description, MAX_DESCRIPTION_CHARS),
          });
    if (!voted) throw entryNotFound('cache_entry_id');
    return json({
      object: 'cache.feedback',
      cache_entry_id: entryIdOf(voted.entry_id),
      feedback_type,
      removed: voted.isRemoved,
    });
  };
}

/** Returns the error for an id that names no entry of the organization. `param` is the parameter with it. */
export function entryNotFound(param: string): WeirError {
  return new WeirError('not_found', 'There is no such cache entry.', {
    param,
    hint: 'Send the header x-weir-cache-entry-id or x-request-id of a recent answer.',
  });
}
