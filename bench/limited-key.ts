/** Two keys of one Weir: one without limits, and one with all limits that Weir has, which never refuse. */
import type { RunningWeir } from '../test/support/weir.ts';
import { bodyOfCall, MODEL, targetOf } from './contenders.ts';
import type { Target } from './target.ts';

/** The tag of all calls. Only the organization of the limited key has budgets of it. */
const TAG = { team: 'blue' };
/** The largest limits that Weir takes. No measurement reaches them. */
const LIMIT = {
  requests_per_minute: 1_000_000,
  tokens_per_minute: 1_000_000_000,
  concurrent_calls: 10_000,
};
const BUDGET_USD = 1_000_000;
const PERIODS = ['day', 'week', 'month'] as const;

interface Budget {
  readonly period: (typeof PERIODS)[number];
  readonly used_amount: number;
}

/** A key of an organization of its own. */
export class BenchKey {
  private constructor(
    private readonly weir: RunningWeir,
    private readonly key: string,
    private readonly management_token: string,
  ) {}

  /** Creates an organization with money and a key. */
  static async create(weir: RunningWeir, name: string): Promise<BenchKey> {
    const operate = sender(weir, '/operator/organizations', weir.operator_token);
    const { id, management_token } = await operate<{ id: string; management_token: string }>('', {
      ...{ name, management_token: true },
    });
    await operate(`/${id}/deposits`, { amount: BUDGET_USD, reference: name });
    const manage = sender(weir, '/management', management_token);
    const { key } = await manage<{ key: string }>('/api-keys', { name });
    return new BenchKey(weir, key, management_token);
  }

  /** Sets limits of the key and of its model, and budgets of the key, of the tag and of the organization. */
  async limit(): Promise<void> {
    const manage = sender(this.weir, '/management', this.management_token);
    const { data } = await manage<{ data: { id: string }[] }>('/api-keys');
    const api_key_id = data[0]?.id ?? '';
    const limits = [LIMIT, { ...LIMIT, model: MODEL }];
    await manage(`/api-keys/${api_key_id}`, { limits }, 'PATCH');
    for (const period of PERIODS) {
      for (const scope of [{ api_key_id }, { tag: TAG }, {}]) {
        await manage('/budgets', { ...scope, period, limit_amount: BUDGET_USD });
      }
    }
  }

  /**
   * Throws if a budget counted nothing, or something else than those of the same period. A day or a week may end
   * during the calls, so that periods differ.
   */
  async checkBudgets(): Promise<void> {
    const manage = sender(this.weir, '/management', this.management_token);
    const { data } = await manage<{ data: Budget[] }>('/budgets');
    for (const period of PERIODS) {
      const used = data.flatMap((each) => (each.period === period ? [each.used_amount] : []));
      const isRight = used.length === 3 && used.every((each) => each > 0 && each === used[0]);
      if (!isRight) throw new Error(`the budgets of a ${period} counted ${used.join(', ')} USD`);
    }
  }

  target(stream: boolean): Target {
    const body = JSON.stringify({ ...JSON.parse(bodyOfCall(stream)), metadata: TAG });
    return { ...targetOf({ ...this.weir, api_key: this.key }, stream), body };
  }
}

/** Returns a function that sends requests below a path, and throws if one fails. */
function sender({ base_url }: RunningWeir, prefix: string, token: string) {
  return async <Answer>(path: string, body?: object, method = body ? 'POST' : 'GET') => {
    const answer = await fetch(`${base_url}/v1${prefix}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${prefix}${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
}
