import type { Fault } from '../../../../src/errors/fault.ts';
import { type ErrorPayload, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;

const relayed = (
  status: number,
  fault: Fault,
  message: string,
  code: string | null,
  more: Pick<ErrorPayload, 'source' | 'error_id'> & { type?: string; param?: string } = {},
): ErrorPayload => {
  const { type = 'new_api_error', param = '', ...rest } = more;
  return sent(status, fault, { error: { message, type, param, code } }, rest);
};
/** An error without a code. */
const bare = (status: number, fault: Fault, type: string, message: string, source: string) =>
  sent(status, fault, { error: { message, type } }, { source });

/** Errors of relays: new-api, one-api, and programs that descend from them. */
export const RELAY_ERRORS: VendorErrors = {
  vendor: 'Relays (new-api, one-api)',
  payloads: [
    relayed(403, 'account', 'user quota is not enough (request id: 1)', 'insufficient_user_quota', {
      type: 'v_api_error',
      source: 'popjane/free_chatgpt_api#26',
    }),
    relayed(
      403,
      'account',
      'Your account balance is insufficient. Please recharge your account to continue using the API. (tid: 1)',
      'insufficient_user_quota',
      { type: 'Aihubmix_api_error', source: '666ghj/BettaFish#582' },
    ),
    relayed(
      403,
      'account',
      'token quota is not enough, token remain quota: ＄0.250000, need quota: ＄5.500000 (request id: 1)',
      'pre_consume_token_quota_failed',
      { source: 'QuantumNous/new-api#1737' },
    ),
    relayed(401, 'account', '无效的令牌 (request id: 1)', null, {
      source: 'Calcium-Ion/new-api-horizon#32',
    }),
    relayed(403, 'account', '用户额度不足, 剩余额度: $0.1', 'insufficient_user_quota'),
    sent(
      402,
      'account',
      {
        error: {
          message:
            'Insufficient credits — top up your balance at https://gitlawb.com/opengateway/credits',
          type: 'insufficient_quota',
          code: 'insufficient_credits',
        },
      },
      { source: 'Gitlawb/openclaude#1489' },
    ),
    sent(
      402,
      'account',
      {
        error: {
          message:
            'Free quota used (30 requests / 5h). Resets at 10:00 UTC. Top up for unlimited access at https://gitlawb.com/opengateway/credits.',
          type: 'insufficient_quota',
          code: 'free_quota_exceeded',
        },
      },
      { source: 'Gitlawb/openclaude#1554' },
    ),
    sent(
      403,
      'account',
      { code: 'INSUFFICIENT_BALANCE', message: 'Insufficient account balance' },
      { source: 'Wei-Shaw/sub2api#890' },
    ),
    sent(
      402,
      'account',
      {
        error:
          'Insufficient USD or Diem balance to complete request. Visit https://venice.ai/settings/api to add credits.',
      },
      { source: 'osaurus-ai/osaurus#2431' },
    ),
    bare(
      503,
      'broken',
      'v_api_error',
      '当前分组 default 下对于模型 gpt-4o-mini 无可用渠道 (request id: 1)',
      'popjane/free_chatgpt_api#110',
    ),
    bare(
      503,
      'broken',
      'new_api_error',
      '当前分组 3.5-不限速 下对于模型 gpt3 无可用渠道 (request id: 1)',
      'ConardLi/easy-dataset#80',
    ),
    bare(
      503,
      'broken',
      'new_api_error',
      'No available channels for model  in group default (request id: 1)',
      'a37836323/-chatgpt4.0-api-key#2',
    ),
    relayed(
      503,
      'broken',
      'No available channel for model claude-opus-5 under group default (distributor) (request id: 1)',
      'model_not_found',
      { source: 'QuantumNous/new-api#6915' },
    ),
    relayed(
      400,
      'caller',
      'input contains sensitive words: [test] (request id: 1)',
      'sensitive_words_detected',
      {
        ...filtered,
        source: 'openai/openai-cookbook#1224',
      },
    ),
    relayed(
      400,
      'caller',
      'sensitive words: 8964,8964 (request id: 1)',
      'sensitive_words_detected',
      {
        ...filtered,
        type: 'mole_api_error',
        source: 'yuruotong1/autoMate#87',
      },
    ),
    relayed(500, 'broken', 'upstream error: do request failed', 'do_request_failed', {
      source: 'james-6-23/codex2api#695',
    }),
    relayed(429, 'overload', '当前分组上游负载已饱和，请稍后再试 (request id: 1)', null, {
      source: '666ghj/BettaFish#535',
    }),
    relayed(
      429,
      'overload',
      '当前分组上游负载已饱和，请稍后再试 (request id: 1)',
      'bad_response_status_code',
      { type: 'upstream_error', param: '404', source: 'WEIFENG2333/VideoCaptioner#1120' },
    ),
    relayed(
      429,
      'overload',
      '当前分组负载已饱和，请稍后再试，或升级账户以提升服务质量。',
      'billing_not_active',
      { type: 'billing_not_active', source: 'songquanpeng/one-api#330' },
    ),
    // The provider behind the relay refused `stream_options`. The relay hides what it said.
    relayed(
      400,
      'unclear',
      'bad response status code 400 (request id: 1)',
      'bad_response_status_code',
      { type: 'upstream_error', param: '400', source: 'QuantumNous/new-api#954' },
    ),
    relayed(502, 'broken', 'bad response status code 502', 'bad_response_status_code', {
      type: 'upstream_error',
      param: '502',
    }),
    relayed(
      400,
      'unclear',
      'Error from provider (Console Go): Upstream request failed',
      'invalid_request_error',
      { type: 'invalid_request_error', source: 'skye-harris/hass_local_openai_llm#89' },
    ),
  ],
};
