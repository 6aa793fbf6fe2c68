/** People who sign in, each with a browser that keeps cookies. */
import { expect } from 'bun:test';
import { firstOperatorLink } from '../../src/start/people.ts';
import type { TestApp } from './app.ts';

export const PASSWORD = 'correct horse battery';

/** The answer about a session. */
export interface SessionRecord {
  id: string;
  person: { id: string; name: string; email: string };
  is_operator: boolean;
  organizations: { id: string; name: string; role: string }[];
}

/** What a browser adds to a request that a page of an address sends. */
export type Page = 'own' | 'foreign' | 'none';

/** A client that keeps cookies as a browser does, and names the page that sends its requests. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(readonly base_url: string) {}

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    { headers = {}, page = 'own' }: { headers?: Record<string, string>; page?: Page } = {},
  ): Promise<Response> {
    const origin = page === 'own' ? this.base_url : 'https://evil.example';
    const url = path.startsWith('/') ? this.base_url + path : path;
    const response = await fetch(url, {
      ...{ method, redirect: 'manual' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        ...(this.cookies.size === 0 ? {} : { cookie: this.cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(page === 'none' || method === 'GET' ? {} : { origin }),
        ...headers,
      },
    });
    for (const cookie of response.headers.getSetCookie()) this.keep(cookie);
    return response;
  }

  /** Sends a request that must succeed, and returns its answer. */
  async ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await this.send(method, path, body);
    const answer = (await response.json()) as Answer;
    expect({ status: response.status, answer }).toEqual({ status: 200, answer });
    return answer;
  }

  signIn(email: string, password = PASSWORD): Promise<Response> {
    return this.send('POST', '/v1/auth/sign-in', { email, password });
  }

  keep(cookie: string): void {
    const [pair = ''] = cookie.split(';');
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    if (value === '' || /max-age=0/i.test(cookie)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}

/** The Weir that people join: that of a test, or a process. */
export interface JoinedWeir {
  readonly base_url: string;
  readonly organization_id: string;
  readonly credentials: { readonly operator_token: string };
}

/** Sends a request with a token, and JSON if there is a body. */
export function sendWith(
  app: Pick<JoinedWeir, 'base_url'>,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return fetch(app.base_url + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
  });
}

/** Returns the link of a new invitation. Without a role, it is one to operate the installation. */
export async function invite(
  app: JoinedWeir,
  email: string,
  role?: string,
  organization_id = app.organization_id,
): Promise<string> {
  const body = role === undefined ? { email } : { email, role, organization_id };
  const { operator_token } = app.credentials;
  const answer = await sendWith(app, operator_token, 'POST', '/v1/operator/invitations', body);
  const { url } = (await answer.json()) as { url?: string };
  expect({ status: answer.status, url: typeof url }).toEqual({ status: 200, url: 'string' });
  return url ?? '';
}

/** Adds a person by an invitation, and returns the browser in which the person is signed in. */
export async function join(
  app: JoinedWeir,
  email: string,
  role?: string,
  organization_id?: string,
): Promise<Browser & { session: SessionRecord }> {
  const browser = new Browser(app.base_url);
  const link = await invite(app, email, role, organization_id);
  const body = { name: email.split('@')[0], password: PASSWORD };
  const session = await browser.ask<SessionRecord>('POST', link, body);
  return Object.assign(browser, { session });
}

/** Signs the first operator in, by the link that a start prints. */
export async function firstOperator(app: TestApp, email = 'operator@example.com') {
  const link = await firstOperatorLink(app.pool.sql, app.base_url);
  const browser = new Browser(app.base_url);
  const body = { email, name: 'Operator', password: PASSWORD };
  const session = await browser.ask<SessionRecord>('POST', link ?? '', body);
  return Object.assign(browser, { session });
}

/** The code of an error, with its status. */
export async function refusalOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error?: { code: string } };
  return `${response.status} ${error?.code}`;
}
