/**
 * Calls of the API key routes of the management interface.
 */
import { expect } from 'bun:test';
import { hashCredential, newCredential, newId, shownPrefix } from '../../db/secrets.ts';
import type { TestApp } from './app.ts';

/** The API key record of the specification. */
export interface KeyRecord {
  id: string;
  name: string;
  key_prefix: string;
  status: string;
  limit_amount: number | null;
  cap_counts: string;
  used_amount: number;
  held_amount: number;
  models: string[];
  tags: string[];
  call_tags: Record<string, string>;
  external_id: string | null;
  requests_per_minute: number | null;
  limits: object[];
  default_timeout_ms: number | null;
  default_image_response_format: string | null;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
  /** Only a deleted key has it. */
  deleted_at?: string;
  /** The full key. Only the response to its creation has it. */
  key?: string;
}

export interface KeyList {
  object: string;
  data: KeyRecord[];
}

/** The API key record of a response, which must have status 200. */
export async function record(response: Response): Promise<KeyRecord> {
  const body = await response.json();
  expect({ status: response.status, body }).toEqual({ status: 200, body });
  return body as KeyRecord;
}

export class ManagedKeys {
  constructor(private readonly app: () => TestApp) {}

  create(body: unknown = {}, headers?: Record<string, string>): Promise<Response> {
    return this.app().manage('POST', '/api-keys', body, headers);
  }

  get(id: string): Promise<Response> {
    return this.app().manage('GET', `/api-keys/${id}`);
  }

  patch(id: string, body: unknown, headers?: Record<string, string>): Promise<Response> {
    return this.app().manage('PATCH', `/api-keys/${id}`, body, headers);
  }

  remove(id: string, headers?: Record<string, string>): Promise<Response> {
    return this.app().manage('DELETE', `/api-keys/${id}`, undefined, headers);
  }

  rotate(id: string, body?: unknown, headers?: Record<string, string>): Promise<Response> {
    return this.app().manage('POST', `/api-keys/${id}/rotate`, body, headers);
  }

  async add(body: unknown = {}): Promise<KeyRecord> {
    return record(await this.create(body));
  }

  async list(query = ''): Promise<KeyList> {
    return (await (await this.app().manage('GET', `/api-keys${query}`)).json()) as KeyList;
  }

  async find(id: string): Promise<KeyRecord | undefined> {
    return (await this.list()).data.find((key) => key.id === id);
  }

  /** Creates another organization with its own key and management token. */
  async addStranger(): Promise<{ key_id: string; token: string }> {
    const { sql } = this.app().database;
    const [organization_id, key_id, token] = [newId('org'), newId('key'), newCredential('mt')];
    await sql`insert into organization ${sql({ id: organization_id, name: 'strangers' })}`;
    await sql`insert into api_key ${sql({
      id: key_id,
      organization_id,
      name: 'theirs',
      key_hash: hashCredential(newCredential('sk')),
      key_prefix: 'sk-thei…',
    })}`;
    await sql`insert into access_token ${sql({
      id: newId('token'),
      kind: 'management',
      organization_id,
      token_hash: hashCredential(token),
      token_prefix: shownPrefix(token),
    })}`;
    return { key_id, token };
  }
}
