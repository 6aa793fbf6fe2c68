import { type Operated, OperatorClient } from './operator-client.ts';

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

/** The client of the operator routes of organizations. */
export class OperatedOrganizations extends OperatorClient<OrganizationRecord> {
  constructor(weir: () => Operated) {
    super('organizations', weir);
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
