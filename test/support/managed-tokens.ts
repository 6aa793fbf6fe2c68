/** Calls of the routes of management tokens and operator tokens. */
import { expect } from 'bun:test';
import type { TestApp } from './app.ts';

/** The record of a token. */
export interface TokenRecord {
  object: string;
  id: string;
  name: string;
  status: string;
  scopes: string[];
  token_prefix: string;
  created_by: string | null;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
  replaces: string | null;
  /** The full token. Only the answers to its creation and its rotation have it. */
  token?: string;
}

interface Answer {
  readonly status: number;
  json(): Promise<unknown>;
}

/** The record of an answer, which must have status 200. */
export async function tokenOf(answer: Answer): Promise<TokenRecord> {
  const body = await answer.json();
  expect({ status: answer.status, body }).toEqual({ status: 200, body });
  return body as TokenRecord;
}

/** The tokens of an interface: `/v1/management/tokens` or `/v1/operator/tokens`. */
export class ManagedTokens {
  constructor(
    private readonly app: () => TestApp,
    readonly kind: 'management' | 'operator',
  ) {}

  /** The token of the first run, which sends the requests unless a call names another. */
  get first(): string {
    const { management_token, operator_token } = this.app().credentials;
    return this.kind === 'management' ? management_token : operator_token;
  }

  send(
    method: string,
    path: string,
    body?: unknown,
    { by = this.first, headers = {} }: { by?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    return fetch(`${this.app().base_url}/v1/${this.kind}/tokens${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${by}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  }

  async add(body: object = {}): Promise<TokenRecord & { token: string }> {
    const made = await tokenOf(await this.send('POST', '', { ...DEFAULTS, ...body }));
    return { ...made, token: made.token ?? '' };
  }

  async get(id: string): Promise<TokenRecord> {
    return tokenOf(await this.send('GET', `/${id}`));
  }

  async list(query = ''): Promise<TokenRecord[]> {
    const response = await this.send('GET', query);
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: TokenRecord[] }).data;
  }

  /** The status of a request with a token. */
  async statusWith(token = '', to = this.app()): Promise<number> {
    const path = this.kind === 'management' ? 'balance' : 'audit-log';
    const response = await fetch(`${to.base_url}/v1/${this.kind}/${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await response.text();
    return response.status;
  }
}

const DEFAULTS = { name: 'test', scopes: ['read'] };
