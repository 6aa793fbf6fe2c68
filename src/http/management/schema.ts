import { type Static, Type } from '@sinclair/typebox';
import { WeirError } from '../../errors/weir-error.ts';
import { MAX_CLIENT_TIMEOUT_MS, MIN_CLIENT_TIMEOUT_MS } from '../../inference/client-deadline.ts';
import { storedTags, tagsSchema } from '../tags-schema.ts';
import { LIMITS } from './key-limits.ts';
import { choiceParameter } from './list-query.ts';
import { parseRfc3339 } from './rfc3339.ts';

const NANO_PER_USD = 1_000_000_000;
const MAX_STORED_CAP_USD = 100_000;
const MAX_NAME_CHARS = 50;
const MAX_REQUESTS_PER_MINUTE = 1_000_000;
const MAX_TAGS = 20;
/** As many as OpenAI takes of a client (OpenAI docs: Chat Completions, metadata). */
const MAX_CALL_TAGS = 16;
const MAX_TAG_CHARS = 64;
const MAX_EXTERNAL_ID_CHARS = 200;
/** PostgreSQL's text type stores every character except NUL. */
const NO_NUL = '^[^\\u0000]*$';

/** The name of a key or a token. `trimmedName` trims it and checks its length. */
export const NAME = Type.String({ errorMessage: 'must be a string' });
/** When a key or a token expires. `parseExpiry` reads it. */
export const EXPIRES_AT = Type.Union([Type.String({ maxLength: 64 }), Type.Null()], {
  errorMessage: 'must be null or an RFC 3339 datetime',
});

const fields = {
  name: Type.Optional(NAME),
  expiresAt: Type.Optional(EXPIRES_AT),
  limitAmount: Type.Optional(
    Type.Union([Type.Number({ minimum: 0, maximum: 1_000_000 }), Type.Null()], {
      errorMessage: 'must be null or a number from 0 to 1000000',
    }),
  ),
  limitCurrency: Type.Optional(
    Type.Union([Type.Literal('USD'), Type.Literal('CNY')], { errorMessage: 'must be USD' }),
  ),
  cap_counts: choiceParameter(['charged', 'list']),
  models: Type.Optional(
    Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: NO_NUL,
        errorMessage: 'must be a model id',
      }),
      { maxItems: 1_000, errorMessage: 'must be an array of at most 1000 model ids' },
    ),
  ),
  tags: Type.Optional(
    Type.Array(
      Type.String({
        minLength: 1,
        maxLength: MAX_TAG_CHARS,
        pattern: NO_NUL,
        errorMessage: `must be a text of 1 to ${MAX_TAG_CHARS} characters`,
      }),
      { maxItems: MAX_TAGS, errorMessage: `must be an array of at most ${MAX_TAGS} tags` },
    ),
  ),
  call_tags: Type.Optional(tagsSchema({ maxProperties: MAX_CALL_TAGS })),
  external_id: Type.Optional(
    Type.Union(
      [
        Type.String({ minLength: 1, maxLength: MAX_EXTERNAL_ID_CHARS, pattern: NO_NUL }),
        Type.Null(),
      ],
      { errorMessage: `must be null or a text of 1 to ${MAX_EXTERNAL_ID_CHARS} characters` },
    ),
  ),
  requests_per_minute: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: MAX_REQUESTS_PER_MINUTE }), Type.Null()], {
      errorMessage: `must be null or a whole number from 1 to ${MAX_REQUESTS_PER_MINUTE}`,
    }),
  ),
  limits: Type.Optional(LIMITS),
  default_timeout_ms: Type.Optional(
    Type.Union(
      [
        Type.Integer({ minimum: MIN_CLIENT_TIMEOUT_MS, maximum: MAX_CLIENT_TIMEOUT_MS }),
        Type.Null(),
      ],
      {
        errorMessage: `must be null or an integer from ${MIN_CLIENT_TIMEOUT_MS} to ${MAX_CLIENT_TIMEOUT_MS}`,
      },
    ),
  ),
  default_image_response_format: Type.Optional(
    Type.Union([Type.Literal('url'), Type.Literal('b64_json'), Type.Null()], {
      errorMessage: 'must be null, url or b64_json',
    }),
  ),
};

/** `POST /v1/management/api-keys` (spec: Management interface). */
export const CreateKeySchema = Type.Object(fields, { additionalProperties: false });

const status = choiceParameter(['active', 'inactive', 'suspended', 'revoked']);

/** `PATCH /v1/management/api-keys/{keyId}`. */
export const UpdateKeySchema = Type.Object({ ...fields, status }, { additionalProperties: false });

/** `GET /v1/management/api-keys`. */
export const ListKeysSchema = Type.Object(
  {
    status,
    tag: Type.Optional(Type.String({ maxLength: MAX_TAG_CHARS, pattern: NO_NUL })),
    external_id: Type.Optional(Type.String({ maxLength: MAX_EXTERNAL_ID_CHARS, pattern: NO_NUL })),
  },
  { additionalProperties: false },
);

/** The longest time for which a replaced secret stays valid: 30 days. */
const MAX_GRACE_S = 30 * 24 * 3_600;

/** The body of each route that replaces a secret. */
export const RotateSchema = Type.Object(
  {
    /** How long the replaced secret stays valid, seconds; 0 by default. */
    grace_s: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: MAX_GRACE_S },
        errorMessage: `must be a whole number from 0 to ${MAX_GRACE_S}`,
      }),
    ),
  },
  { additionalProperties: false },
);

export type CreateKeyBody = Static<typeof CreateKeySchema>;

/**
 * Checks rules that a schema cannot express. Returns the fields of the body as they are stored. A
 * field that the body lacks is left out. Throws WeirError.
 */
export function normalizeKeyFields(body: CreateKeyBody) {
  if (body.limitCurrency === 'CNY') {
    throw new WeirError('currency_retired', 'limitCurrency CNY is retired; use USD.', {
      param: 'limitCurrency',
    });
  }
  return {
    ...(body.name === undefined ? {} : { name: trimmedName(body.name) }),
    ...(body.limitAmount === undefined ? {} : { limit_nano_usd: storedCap(body.limitAmount) }),
    ...(body.cap_counts === undefined ? {} : { cap_counts: body.cap_counts }),
    ...(body.models === undefined ? {} : { models: [...new Set(body.models)] }),
    ...(body.tags === undefined ? {} : { tags: [...new Set(body.tags)] }),
    ...(body.call_tags === undefined ? {} : { call_tags: storedTags(body.call_tags) }),
    ...(body.external_id === undefined ? {} : { external_id: body.external_id }),
    ...(body.requests_per_minute === undefined
      ? {}
      : { requests_per_minute: body.requests_per_minute }),
    ...(body.default_timeout_ms === undefined ? {} : { timeout_ms: body.default_timeout_ms }),
    ...(body.default_image_response_format === undefined
      ? {}
      : { image_response_format: body.default_image_response_format }),
    ...(body.expiresAt === undefined ? {} : { expires_at: parseExpiry(body.expiresAt) }),
  };
}

/** Returns the name without the space around it. Throws WeirError if it is too short or too long. */
export function trimmedName(name: string): string {
  const trimmed = name.trim();
  const chars = [...trimmed].length;
  if (chars >= 1 && chars <= MAX_NAME_CHARS && !trimmed.includes('\u0000')) return trimmed;
  const message = `name must have 1 to ${MAX_NAME_CHARS} characters.`;
  throw new WeirError('invalid_request', message, { param: 'name' });
}

/**
 * Returns the cap in nano-USD. An amount above 100,000 USD is stored as 100,000 USD. 0 means that
 * the key may spend nothing, null means unlimited.
 */
function storedCap(limitAmount: number | null): number | null {
  if (limitAmount === null || limitAmount === 0) return limitAmount;
  // A tiny positive amount must not become 0.
  return Math.max(1, Math.round(Math.min(limitAmount, MAX_STORED_CAP_USD) * NANO_PER_USD));
}

/** Returns the time of `expiresAt`; null means never. Throws WeirError. */
export function parseExpiry(value: string | null): Date | null {
  if (value === null) return null;
  const date = parseRfc3339(value);
  if (date) return date;
  const message = 'expiresAt must be an RFC 3339 datetime with a time zone.';
  throw new WeirError('invalid_request', message, {
    param: 'expiresAt',
    hint: 'For example 2030-01-31T12:00:00Z.',
  });
}
