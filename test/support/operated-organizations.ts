import { expect } from 'bun:test';

/** An organization as `/v1/operator/organizations` shows it. */
export interface OrganizationRecord {
  id: string;
  name: string;
  role: string;
  max_keys: number | null;
  requests_per_minute: number | null;
  status: string;
  status_reason: string;
  status_changed_at: string | null;
  balance: { total_deposited: number; available: number; held: number; used: number };
  credit_line: { amount: number; used: number; to_return: number };
  management_token?: string;
}

/** A Weir, and the operator token that sends the requests. */
interface Operated {
  readonly base_url: string;
  readonly operator_token: string;
}

/** The client of the operator routes of organizations. */
export class OperatedOrganizations {
  constructor(private readonly weir: () => Operated) {}

  send(
    method: string,
    path = '',
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const { base_url, operator_token } = this.weir();
    return fetch(`${base_url}/v1/operator/organizations${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${operator_token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  }

  /** Sends a request, and returns the answer, which must be a success. */
  async ask<Answer = OrganizationRecord>(...args: Parameters<typeof this.send>): Promise<Answer> {
    const response = await this.send(...args);
    const text = await response.text();
    if (response.status !== 200) expect(text).toBe('a success');
    return JSON.parse(text) as Answer;
  }

  create(body: object = {}): Promise<OrganizationRecord> {
    return this.ask('POST', '', { name: 'Acme', ...body });
  }

  get(id: string): Promise<OrganizationRecord> {
    return this.ask('GET', `/${id}`);
  }

  async list(query = ''): Promise<OrganizationRecord[]> {
    return (await this.ask<{ data: OrganizationRecord[] }>('GET', query)).data;
  }

  /** `deed`: suspend, reactivate or close. */
  setStatus(id: string, deed: string, reason = 'a test'): Promise<OrganizationRecord> {
    return this.ask('POST', `/${id}/${deed}`, { reason });
  }
}
