import type { Actor } from '../../../db/audit/entry.ts';
import type { KeyRecord } from '../../../db/keys.ts';
import type { Manager, Operator } from '../../access/manager.ts';
import type { Cidr } from '../../config/cidr-list.ts';
import type { DebugWindows } from '../../inference/debug/debug-windows.ts';
import type { KeyCache, ValidToken } from '../../inference/keys/key-cache.ts';
import type { CallRecord } from '../../inference/records/call-record.ts';
import type { CallRecords } from '../../inference/records/call-records.ts';
import { programOf } from '../../inference/records/program.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import type { RequestContext } from '../endpoint.ts';
import { clientAddress } from './client-address.ts';
import { hasSessionCookie } from './cookies.ts';
import { readApiKey, readBearerToken } from './credentials.ts';
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
   * key, and is on record. Returns a promise only if the key must be read from the database.
   */
  requireKey(
    context: RequestContext,
    protocol: ClientProtocol = 'openai',
  ): KeyRecord | Promise<KeyRecord> {
    const found = this.findKey(context, protocol);
    // Only a POST can cost money or be refused by a cap. Polls are not calls.
    if (!this.parts.records || context.request.method !== 'POST') return found;
    if (found instanceof Promise) return found.then((key) => this.begin(context, protocol, key));
    return this.begin(context, protocol, found);
  }

  /** Begins the record of a call. */
  private begin(context: RequestContext, protocol: ClientProtocol, key: KeyRecord): KeyRecord {
    const { uuid, arrived_ms, request } = context;
    const record = this.parts.records?.begin(
      { id: uuid, arrived_ms, protocol, program: programOf(request.headers.get('user-agent')) },
      key,
    );
    if (record) {
      context.record = record;
      this.beginCopy(context, record, key);
    }
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

  private findKey(
    context: RequestContext,
    protocol: ClientProtocol,
  ): KeyRecord | Promise<KeyRecord> {
    const { keys } = this.parts;
    const secret = readApiKey(context.request, protocol);
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
