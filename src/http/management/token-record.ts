import { Type } from '@sinclair/typebox';
import type { Actor } from '../../../db/audit/entry.ts';
import type { TokenScope } from '../../access/actions.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { RequestContext } from '../endpoint.ts';
import { EXPIRES_AT, NAME, parseExpiry } from './schema.ts';

const closed = { additionalProperties: false };

/** The caller of a route about tokens. */
export interface TokenManager {
  /** The organization whose management tokens the routes show; null = the operator tokens. */
  readonly owner: string | null;
  readonly actor: Actor;
  /** True if the caller may give these scopes to a token. */
  readonly mayGrant: (scopes: readonly TokenScope[]) => boolean;
}

/** What differs between management tokens and operator tokens. */
export interface TokenKind {
  readonly prefix: 'mt' | 'op';
  readonly object: 'management_token' | 'operator_token';
  /** The scopes that such a token may have. */
  readonly scopes: readonly TokenScope[];
  readonly admit: (context: RequestContext) => Promise<TokenManager>;
}

const scopesSchema = (scopes: readonly TokenScope[]) =>
  Type.Array(
    Type.Unsafe<TokenScope>(
      Type.Union(
        scopes.map((scope) => Type.Literal(scope)),
        { errorMessage: `must be ${scopes.slice(0, -1).join(', ')} or ${scopes.at(-1)}` },
      ),
    ),
    { minItems: 1, maxItems: 10, errorMessage: `must be an array of ${scopes.join(', ')}` },
  );

/** `POST …/tokens`, for a kind of token that may have these scopes. */
export const createTokenSchema = (scopes: readonly TokenScope[]) =>
  Type.Object(
    { name: NAME, scopes: scopesSchema(scopes), expiresAt: Type.Optional(EXPIRES_AT) },
    closed,
  );

/** `PATCH …/tokens/{id}` */
export const updateTokenSchema = (scopes: readonly TokenScope[]) =>
  Type.Object(
    {
      name: Type.Optional(NAME),
      scopes: Type.Optional(scopesSchema(scopes)),
      expiresAt: Type.Optional(EXPIRES_AT),
    },
    closed,
  );

/** Returns the time of `expiresAt`; null means never. Throws WeirError if it is past. */
export function expiryOf(value: string | null): Date | null {
  const date = parseExpiry(value);
  if (date === null || date.getTime() > Date.now()) return date;
  throw new WeirError('invalid_request', 'expiresAt is in the past.', {
    param: 'expiresAt',
    hint: 'POST …/revoke ends a token now.',
  });
}
