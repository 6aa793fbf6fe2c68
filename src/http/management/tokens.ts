import { Type } from '@sinclair/typebox';
import { appendAudit } from '../../../db/audit/log.ts';
import type { TransactionSql } from '../../../db/client.ts';
import { hashCredential, newCredential, newId, shownPrefix } from '../../../db/secrets.ts';
import {
  endToken,
  findToken,
  hasLastingOperator,
  hasManyTokens,
  insertToken,
  listTokens,
  lockTokens,
  MAX_TOKENS_EVER,
  MAX_VALID_TOKENS,
  type TokenRow,
  updateToken,
} from '../../../db/tokens.ts';
import type { TokenScope } from '../../access/actions.ts';
import { type Validator, validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import { changedMembers } from '../../json/changed-members.ts';
import { MAX_MANAGEMENT_BODY_BYTES, readJsonObject, readOptionalObject } from '../body.ts';
import { type Handler, json, type RequestContext } from '../endpoint.ts';
import { requireMatch, withEtag } from '../etag.ts';
import { OPERATORS } from '../operators.ts';
import { type ChangeDeps, changeOnce } from './change-once.ts';
import {
  choiceParameter,
  listAnswer,
  PAGE_PARAMETERS,
  pageRequestOf,
  readQuery,
} from './list-query.ts';
import { RotateSchema, trimmedName } from './schema.ts';
import {
  createTokenSchema,
  expiryOf,
  type TokenKind,
  type TokenManager,
  updateTokenSchema,
} from './token-record.ts';
import { auditedToken, settingsOf, tokenRecord } from './token-view.ts';

const closed = { additionalProperties: false };
const status = choiceParameter(['active', 'expired', 'revoked']);
/** `GET …/tokens` */
export const ListTokensSchema = Type.Object({ ...PAGE_PARAMETERS, status }, closed);
/** `POST …/tokens/{id}/revoke`: a body without members. */
export const RevokeTokenSchema = Type.Object({}, closed);
const validateList = validator(ListTokensSchema);
const validateRotate = validator(RotateSchema);
const validateRevoke = validator(RevokeTokenSchema);

interface TokenRouteDeps extends ChangeDeps {
  readonly keys: { forgetTokens(): void };
}

/**
 * The routes of management tokens, or of operator tokens. A secret is in the answer of its creation or
 * rotation, and nowhere else.
 */
export class TokenRoutes {
  private readonly validateCreate: Validator<ReturnType<typeof createTokenSchema>>;
  private readonly validateUpdate: Validator<ReturnType<typeof updateTokenSchema>>;

  constructor(
    private readonly deps: TokenRouteDeps,
    private readonly kind: TokenKind,
  ) {
    this.validateCreate = validator(createTokenSchema(kind.scopes));
    this.validateUpdate = validator(updateTokenSchema(kind.scopes));
  }

  /** `GET …/tokens` */
  readonly list: Handler = async (context) => {
    const { owner } = await this.kind.admit(context);
    const query = readQuery(context.request, validateList);
    const page = await listTokens(this.deps.sql, owner, query.status, pageRequestOf(query));
    return json(
      listAnswer(
        page,
        ({ id }) => id,
        (row) => this.record(row),
      ),
    );
  };

  /** `GET …/tokens/{id}` */
  readonly get: Handler = async (context) => {
    const { owner } = await this.kind.admit(context);
    const row = await findToken(this.deps.sql, owner, idOf(context));
    if (!row) throw tokenNotFound();
    return this.answer(row);
  };

  /** `POST …/tokens` */
  readonly create: Handler = async (context) => {
    const manager = await this.kind.admit(context);
    const { value, text } = await readBody(context, manager, readJsonObject);
    const body = this.validateCreate(value);
    const scopes = [...new Set(body.scopes)];
    this.requireGrant(manager, scopes);
    const name = trimmedName(body.name);
    const settings = { name, scopes, expires_at: expiryOf(body.expiresAt ?? null) };
    return this.change(context, manager, 'create', text, (tx) =>
      this.add(tx, manager, settings, null),
    );
  };

  /** `PATCH …/tokens/{id}` */
  readonly update: Handler = async (context) => {
    const manager = await this.kind.admit(context);
    const { value, text } = await readBody(context, manager, readJsonObject);
    const body = this.validateUpdate(value);
    if (Object.keys(body).length === 0) {
      throw new WeirError('invalid_request', 'At least one field is required.', { param: 'body' });
    }
    const { name, scopes, expiresAt } = body;
    if (scopes) this.requireGrant(manager, scopes);
    const changes = {
      ...(name === undefined ? {} : { name: trimmedName(name) }),
      ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
      ...(expiresAt === undefined ? {} : { expires_at: expiryOf(expiresAt) }),
    };
    return this.change(context, manager, 'update', text, async (tx) => {
      const before = await this.requireLive(tx, context, manager);
      const after = await updateToken(tx, manager.owner, before.id, changes);
      await this.requireAdmin(tx, manager, before);
      await this.audit(tx, manager, 'update', before, after);
      return this.answer(after);
    });
  };

  /** `POST …/tokens/{id}/rotate`. A new token takes the place of this one, with the same settings. */
  readonly rotate: Handler = async (context) => {
    const manager = await this.kind.admit(context);
    const { value, text } = await readBody(context, manager, readOptionalObject);
    const { grace_s = 0 } = validateRotate(value);
    return this.change(context, manager, 'rotate', text, async (tx) => {
      const before = await this.requireLive(tx, context, manager);
      const { id, name, scopes, expires_at } = before;
      // The old token ends first, so that a rotation without a grace needs no further place.
      const after = await endToken(tx, manager.owner, id, grace_s);
      await this.audit(tx, manager, 'rotate', before, after);
      return this.add(tx, manager, { name, scopes, expires_at }, id);
    });
  };

  /** `POST …/tokens/{id}/revoke`. Ends a token at once. A repeat changes nothing. */
  readonly revoke: Handler = async (context) => {
    const manager = await this.kind.admit(context);
    const { value, text } = await readBody(context, manager, readOptionalObject);
    validateRevoke(value);
    return this.change(context, manager, 'revoke', text, async (tx) => {
      const before = await this.find(tx, context, manager);
      const after = await endToken(tx, manager.owner, before.id, 0);
      await this.requireAdmin(tx, manager, before);
      await this.audit(tx, manager, 'revoke', before, after);
      return this.answer(after);
    });
  };

  /** Runs a change while no other request changes tokens of the owner. */
  private async change(
    context: RequestContext,
    { owner, actor }: TokenManager,
    verb: string,
    body: string,
    work: (tx: TransactionSql) => Promise<Response>,
  ): Promise<Response> {
    const route = `${this.kind.object}.${verb}`;
    const request = { organization_id: owner, actor_id: actor.id, route, body };
    try {
      return await changeOnce(this.deps, context, request, async (tx) => {
        await lockTokens(tx, owner);
        return work(tx);
      });
    } finally {
      this.deps.keys.forgetTokens();
    }
  }

  /** Adds a token, and returns the only answer that has its secret. */
  private async add(
    tx: TransactionSql,
    manager: TokenManager,
    settings: Pick<TokenRow, 'name' | 'scopes' | 'expires_at'>,
    replaces: string | null,
  ): Promise<Response> {
    if (await hasManyTokens(tx, manager.owner)) throw tooManyTokens();
    const secret = newCredential(this.kind.prefix);
    const { owner, actor } = manager;
    const created_by = owner !== null && actor.kind === 'operator' ? null : actor.id;
    const row = await insertToken(tx, owner, {
      ...{ id: newId('token'), ...settings, replaces, created_by },
      ...{ token_hash: hashCredential(secret), token_prefix: shownPrefix(secret) },
    });
    await this.audit(tx, manager, 'create', null, row);
    return this.answer(row, { token: secret });
  }

  private async find(
    tx: TransactionSql,
    context: RequestContext,
    { owner }: TokenManager,
  ): Promise<TokenRow> {
    const row = await findToken(tx, owner, idOf(context));
    if (!row) throw tokenNotFound();
    requireMatch(context.request, settingsOf(row));
    return row;
  }

  /** Returns the token of the path. Throws WeirError if it has ended or was replaced. */
  private async requireLive(
    tx: TransactionSql,
    context: RequestContext,
    manager: TokenManager,
  ): Promise<TokenRow> {
    const row = await this.find(tx, context, manager);
    this.requireGrant(manager, row.scopes as TokenScope[]);
    if (row.status === 'active' && row.revoked_at === null) return row;
    const state = row.status === 'active' ? 'was rotated and ends soon' : `is ${row.status}`;
    throw new WeirError('invalid_request', `This token ${state}.`, {
      param: 'id',
      hint: 'Create a new token.',
    });
  }

  /** Throws WeirError if the caller would give away rights that he does not have. */
  private requireGrant({ mayGrant }: TokenManager, scopes: readonly TokenScope[]): void {
    const index = scopes.findIndex((scope) => !mayGrant([scope]));
    if (index < 0) return;
    const message = `You may not manage a token with the scope ${scopes[index]}.`;
    throw new WeirError('access_denied', message, {
      param: `scopes.${index}`,
      hint: 'Choose scopes that you have yourself.',
    });
  }

  /**
   * Throws WeirError if a change of an operator token left no person and no lasting token that may create
   * another one.
   */
  private async requireAdmin(
    tx: TransactionSql,
    { owner }: TokenManager,
    { scopes, expires_at, revoked_at }: TokenRow,
  ): Promise<void> {
    const lasted = scopes.includes('admin') && expires_at === null && revoked_at === null;
    if (owner !== null || !lasted || (await hasLastingOperator(tx))) return;
    const message = 'This is the last operator token with the scope admin that does not expire.';
    throw new WeirError('invalid_request', message, {
      param: 'id',
      hint: 'Create another such operator token first, or rotate this one.',
    });
  }

  private async audit(
    tx: TransactionSql,
    { owner, actor }: TokenManager,
    verb: string,
    before: TokenRow | null,
    after: TokenRow,
  ): Promise<void> {
    const line = {
      ...{ organization_id: owner, actor, action: `${this.kind.object}.${verb}` },
      subject_id: after.id,
    };
    if (before === null) await appendAudit(tx, { ...line, before, after: auditedToken(after) });
    else {
      const members = changedMembers(auditedToken(before), auditedToken(after));
      if (members) await appendAudit(tx, { ...line, ...members });
    }
  }

  private answer(row: TokenRow, more: object = {}): Response {
    return withEtag(json({ ...this.record(row), ...more }), settingsOf(row));
  }

  private record(row: TokenRow) {
    return tokenRecord(this.kind.object, row);
  }
}

function readBody(
  { request, bytes }: RequestContext,
  { owner }: TokenManager,
  read: typeof readOptionalObject,
) {
  return read(request, bytes.of(owner ?? OPERATORS), MAX_MANAGEMENT_BODY_BYTES);
}

/** Returns the id in the path. Throws WeirError if no token can have it. */
function idOf({ params }: RequestContext): string {
  const id = params['id'] ?? '';
  // No id contains NUL, and PostgreSQL refuses a text with NUL.
  if (id.includes('\u0000')) throw tokenNotFound();
  return id;
}

function tooManyTokens(): WeirError {
  const message = `There can be at most ${MAX_VALID_TOKENS} valid tokens, and ${MAX_TOKENS_EVER} with those that have ended.`;
  return new WeirError('invalid_request', message, { hint: 'Revoke a token that is not used.' });
}

/** Returns the same error for another owner's token and for a missing token (P6). */
function tokenNotFound(): WeirError {
  return new WeirError('not_found', 'There is no such token.', { param: 'id' });
}
