import { expect } from 'bun:test';

/** A channel as `/v1/operator/channels` shows it. */
export interface ChannelRecord {
  object: string;
  id: string;
  source: string;
  protocol: string;
  base_url: string;
  priority: number;
  weight: number;
  max_concurrency: number;
  timeout_ms: number;
  enabled: boolean;
  state: string;
  models: { id: string; upstream_model: string }[];
  api_key_readable?: boolean;
  api_key_changed_at: string;
}

/** The answer of `POST /v1/operator/channels/check`. */
export interface ChannelCheck {
  protocol: string;
  base_url: string;
  suggested_id: string;
  key_tested: boolean;
  lists_models: boolean;
  models: {
    id: string;
    upstream_model: string;
    other_upstream_models: string[];
    protocol: string | null;
    category: string;
    owned_by: string;
    pricing_unit: string;
    pricing: object;
    pricing_provenance: object | null;
  }[];
  unknown_models: string[];
}

/** A Weir, and the operator token that sends the requests. */
interface Operated {
  readonly base_url: string;
  readonly operator_token: string;
}

/** The client of the routes with which operators make channels. */
export class OperatedChannels {
  constructor(private readonly weir: () => Operated) {}

  send(
    method: string,
    path = '',
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const { base_url, operator_token } = this.weir();
    return fetch(`${base_url}/v1/operator/channels${path}`, {
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
  async ask<Answer = ChannelRecord>(...args: Parameters<typeof this.send>): Promise<Answer> {
    const response = await this.send(...args);
    const text = await response.text();
    if (response.status !== 200) expect(text).toBe('a success');
    return JSON.parse(text) as Answer;
  }

  check(body: object): Promise<ChannelCheck> {
    return this.ask<ChannelCheck>('POST', '/check', body);
  }

  async list(): Promise<ChannelRecord[]> {
    return (await this.ask<{ data: ChannelRecord[] }>('GET')).data;
  }
}
