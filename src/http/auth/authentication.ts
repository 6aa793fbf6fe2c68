import type { Actor } from '../../../db/audit/entry.ts';
import type { KeyRecord } from '../../../db/keys.ts';
import type { Manager, Operator } from '../../access/manager.ts';
import type { Cidr } from '../../config/cidr-list.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { DebugWindows } from '../../inference/debug/debug-windows.ts';
import type { KeyCache, ValidToken } from '../../inference/keys/key-cache.ts';
import type { CallRecord } from '../../inference/records/call-record.ts';
import type { CallRecords } from '../../inference/records/call-records.ts';
import { programOf } from '../../inference/records/program.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { RequestContext } from '../endpoint.ts';
import { clientAddress } from './client-address.ts';
import { hasSessionCookie } from './cookies.ts';
import { KEY_ID_HEADER, readApiKey, readBearerToken, readNamedKey } from './credentials.ts';
import { requireOpen, requireOperation, requirePermission } from './permission.ts';
import type { WrongCredentials } from './wrong-credentials.ts';

/** A person who acts in an organization. */
export interface Member {
  readonly manager: Manager;
  readonly organization_status: Parameters<typeof requireOpen>[0];
}

/** The parts of `Authentication`. */
interface AuthenticationParts {
  readonly keys: KeyCache;
  readonly wrongCredentials: WrongCredentials;
  /** The proxies whose `X-Forwarded-For` is trusted. */
  readonly proxies: readonly Cidr[];
  /** Notes when tokens are used. */
  readonly tokenUses: { note(token_id: string): void };
  /** Finds people by their cookies. Absent in tests that need no people. */
  readonly people?: {
    requireMember(context: RequestContext): Promise<Member>;
    requireOperator(context: RequestContext): Promise<Operator>;
  };
  /** Records the calls with an API key. Absent in tests that need no records. */
  readonly records?: CallRecords;
  /** Copies the calls of keys with an open debug window. Absent in tests that need no copies. */
  readonly debug?: Pick<DebugWindows, 'windowOf' | 'begin'>;
}

/** The program on record for a call of a person who is signed in. */
const DASHBOARD = 'dashboard';

/**
 * Authenticates requests by the key or token in their headers (spec: Authentication). All methods
 * throw WeirError: those of `KeyCache`, and `rate_limit_exceeded` if the client's address sent too
 * many wrong credentials. Even then, a credential that this replica knows as valid is accepted,
 * because clients with valid credentials may share that address.
 */
export class Authentication {
  constructor(private readonly parts: AuthenticationParts) {}

  /**
   * Returns the API key of a request. `protocol`, that of the route, decides which headers may have the
   * key, and is on record. Returns a promise only if the key must be read from the database, or if a
   * person sent the request with a session and the id of a key.
   */
  requireKey(
    context: RequestContext,
    protocol: ClientProtocol = 'openai',
  ): KeyRecord | Promise<KeyRecord> {
    const { request } = context;
    const secret = readApiKey(request, protocol);
    // The cookie is looked at only here, so a call with a key pays nothing for it.
    const key_id = secret === null ? readNamedKey(request) : undefined;
    if (key_id !== undefined && this.parts.people) {
      return this.keyOfPerson(context, key_id).then((key) =>
        this.begin(context, protocol, key, DASHBOARD),
      );
    }
    const found = this.findKey(context, secret);
    if (found instanceof Promise) return found.then((key) => this.begin(context, protocol, key));
    return this.begin(context, protocol, found);
  }

  /**
   * Returns the key that a person named by its id. Throws WeirError: `session_ended`; `access_denied` for
   * a page of another site, another organization or a role that may not use keys; `not_found` for a key
   * of another organization, as for one that does not exist; those of `KeyCache.findActiveOf`.
   */
  private async keyOfPerson(context: RequestContext, key_id: string): Promise<KeyRecord> {
    const { people, keys } = this.parts;
    if (!people) throw new Error('this process lets nobody sign in');
    const { manager } = await people.requireMember(context);
    requirePermission(manager.rights, 'keys.use');
    const key = await keys.findActiveOf(manager.organization_id, key_id);
    if (key) return key;
    throw new WeirError('not_found', 'There is no such API key.', {
      param: KEY_ID_HEADER,
      hint: 'GET /v1/management/api-keys lists the API keys of the organization.',
    });
  }

  /** Begins the record of a call. Only a POST can cost money or be refused by a cap: polls are no calls. */
  private begin(
    context: RequestContext,
    protocol: ClientProtocol,
    key: KeyRecord,
    program?: string,
  ): KeyRecord {
    const { uuid, arrived_ms, request } = context;
    const { records } = this.parts;
    if (!records || request.method !== 'POST') return key;
    const named = program ?? programOf(request.headers.get('user-agent'));
    const record = records.begin({ id: uuid, arrived_ms, protocol, program: named }, key);
    context.record = record;
    this.beginCopy(context, record, key);
    return key;
  }

  /** Begins the copy of a call, if a debug window is open for its key. */
  private beginCopy(context: RequestContext, record: CallRecord, key: KeyRecord): void {
    const { debug } = this.parts;
    const window = debug?.windowOf(key);
    if (!debug || !window) return;
    const { request, uuid: id, bytes } = context;
    const path = new URL(request.url).pathname;
    const copy = debug.begin(window, {
      ...{ id, key, path, content_type: request.headers.get('content-type') },
    });
    record.copy = copy;
    bytes.onBody = (body) => copy.request.add(body);
  }

  private findKey(context: RequestContext, secret: string | null): KeyRecord | Promise<KeyRecord> {
    const { keys } = this.parts;
    if (!secret) return keys.authenticate(secret);
    return (
      keys.findKnownKey(secret) ??
      this.check(context, `key ${secret}`, () => keys.authenticate(secret))
    );
  }

  /**
   * Returns the holder of a management token, or the person of a session. Throws WeirError
   * `access_denied` if the token or the person's role is not good for the route's action.
   */
  async requireManager(context: RequestContext): Promise<Manager> {
    const { keys, people } = this.parts;
    if (people && sendsOnlyCookie(context.request)) {
      const { manager, organization_status } = await people.requireMember(context);
      requirePermission(manager.rights, context.action);
      requireOpen(organization_status, context.action);
      return manager;
    }
    const secret = readBearerToken(context.request);
    const authenticate = () => keys.authenticateManager(secret);
    const token = await (!secret || keys.isKnownToken(secret, 'mt-')
      ? authenticate()
      : this.check(context, `manager ${secret}`, authenticate));
    const { organization_id, role, id: token_id, scopes } = token;
    this.parts.tokenUses.note(token_id);
    const actor = this.actorOf(context, 'token', token);
    const manager = { organization_id, role, token_id, rights: { scopes }, actor };
    requirePermission(manager.rights, context.action);
    requireOpen(token.organization_status, context.action);
    return manager;
  }

  /**
   * Returns the holder of an operator token, or the operator of a session. Throws WeirError
   * `access_denied` if the token may only read and the route changes something.
   */
  async requireOperator(context: RequestContext): Promise<Operator> {
    const { keys, people } = this.parts;
    if (people && sendsOnlyCookie(context.request)) return people.requireOperator(context);
    const secret = readBearerToken(context.request);
    const authenticate = () => keys.authenticateOperator(secret);
    const token = await (!secret || keys.isKnownToken(secret, 'op-')
      ? authenticate()
      : this.check(context, `operator ${secret}`, authenticate));
    this.parts.tokenUses.note(token.id);
    requireOperation(token.scopes, context.action);
    return { actor: this.actorOf(context, 'operator', token) };
  }

  private actorOf(context: RequestContext, kind: Actor['kind'], { id, prefix }: ValidToken): Actor {
    const address = clientAddress(context, this.parts.proxies);
    const { request_id } = context;
    return { kind, id, label: prefix, credential_id: id, address, request_id };
  }

  private check<Result>(
    context: RequestContext,
    credential: string,
    check: () => Result | Promise<Result>,
  ): Promise<Result> {
    const { wrongCredentials, proxies } = this.parts;
    return wrongCredentials.check(clientAddress(context, proxies), credential, check);
  }
}

/** True if a request has the cookie of a session, and no token, which would come first. */
function sendsOnlyCookie(request: Request): boolean {
  return !request.headers.has('authorization') && hasSessionCookie(request);
}
