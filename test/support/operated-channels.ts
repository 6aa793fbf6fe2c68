import { type Operated, OperatorClient } from './operator-client.ts';

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

/** The client of the routes with which operators make channels. */
export class OperatedChannels extends OperatorClient<ChannelRecord> {
  constructor(weir: () => Operated) {
    super('channels', weir);
  }

  check(body: object): Promise<ChannelCheck> {
    return this.ask<ChannelCheck>('POST', '/check', body);
  }

  async list(): Promise<ChannelRecord[]> {
    return (await this.ask<{ data: ChannelRecord[] }>('GET')).data;
  }
}
