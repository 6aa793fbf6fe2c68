import { Type } from '@sinclair/typebox';
import { baseUrlProblem } from '../../config/base-url.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { OPERATED_PROTOCOLS, VENDOR_ADDRESSES } from '../../inference/probing/account.ts';
import { DIALECT_NAMES } from '../../protocols/dialects.ts';
import { CHANNEL_PROTOCOLS, type ChannelProtocol } from '../../protocols/names.ts';
import { hasInternalHost, hostAndPort } from '../../storage/internal-host.ts';
import { guardedHosts } from '../../upstreams/transport/http1/guarded-connection.ts';

const closed = { additionalProperties: false };
const MAX_MODELS = 1_000;
const MAX_PRIORITY = 1_000_000;
const MAX_URL_CHARS = 2_000;

const api_key = Type.String({
  // The key of a service account is JSON with spaces and line breaks.
  pattern: '^([\\x21-\\x7e]{1,4096}|\\{[\\s\\x21-\\x7e]{1,16384}\\}\\s*)$',
  errorMessage: 'must have 1 to 4096 printable characters without spaces, or be a JSON object',
});
const changeable = {
  name: Type.Optional(Type.String({ errorMessage: 'must be a string' })),
  models: Type.Optional(
    Type.Record(
      Type.String(),
      Type.String({
        ...{ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f]*$' },
        errorMessage: 'must be the id of the model at the provider',
      }),
      {
        ...{ minProperties: 1, maxProperties: MAX_MODELS },
        errorMessage: `must be an object with 1 to ${MAX_MODELS} models: public id → id at the provider`,
      },
    ),
  ),
  priority: Type.Optional(
    Type.Integer({
      ...{ minimum: -MAX_PRIORITY, maximum: MAX_PRIORITY },
      errorMessage: `must be a whole number from ${-MAX_PRIORITY} to ${MAX_PRIORITY}`,
    }),
  ),
};

/** `POST /v1/management/upstream-keys` */
export const CreateOwnKeySchema = Type.Object(
  {
    protocol: Type.Union(
      CHANNEL_PROTOCOLS.map((name) => Type.Literal(name)),
      { errorMessage: `must be one of ${CHANNEL_PROTOCOLS.join(', ')}` },
    ),
    base_url: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: MAX_URL_CHARS },
        errorMessage: `must be an address of at most ${MAX_URL_CHARS} characters`,
      }),
    ),
    dialect: Type.Optional(
      Type.Union(
        DIALECT_NAMES.map((name) => Type.Literal(name)),
        { errorMessage: `must be one of ${DIALECT_NAMES.join(', ')}` },
      ),
    ),
    api_version: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9.-]{1,40}$',
        errorMessage: 'must be a version of Azure’s interface, e.g. 2025-04-01-preview',
      }),
    ),
    api_key,
    ...changeable,
  },
  closed,
);

/** `PATCH /v1/management/upstream-keys/{id}` */
export const UpdateOwnKeySchema = Type.Object(changeable, closed);

/** `POST /v1/management/upstream-keys/{id}/rotate` */
export const RotateOwnKeySchema = Type.Object({ api_key }, closed);

/** The body of the routes that test and revoke an own key: no members. */
export const NoMembersSchema = Type.Object({}, closed);

/**
 * Returns the address of an own key, without slashes at its end. Without an address it is the vendor's.
 * Throws WeirError if the protocol's vendor has no usual address, or if the address is not an https
 * address of the public internet. A host name is checked again at each connection.
 */
export function ownAddressOf(chosen: string | undefined, of: ChannelProtocol): string {
  if (chosen === undefined) {
    const usual = OPERATED_PROTOCOLS.find((name) => name === of);
    if (usual !== undefined) return VENDOR_ADDRESSES[usual];
    throw new WeirError('invalid_request', `base_url is required for the protocol ${of}.`, {
      param: 'base_url',
    });
  }
  const problem = baseUrlProblem(chosen) ?? outsideProblem(new URL(chosen));
  if (problem === undefined) return chosen.replace(/\/+$/, '');
  throw new WeirError('invalid_request', `base_url ${problem}.`, { param: 'base_url' });
}

function outsideProblem(url: URL): string | undefined {
  if (guardedHosts().has(hostAndPort(url))) return undefined;
  if (hasInternalHost(url)) return 'is not on the public internet';
  return url.protocol === 'https:' ? undefined : 'must start with https://';
}
