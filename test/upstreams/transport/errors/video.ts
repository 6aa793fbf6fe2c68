import type { Fault } from '../../../../src/errors/fault.ts';
import { type ErrorPayload, sent, type VendorErrors } from './payload.ts';

const filtered = { error_id: 'content_policy_violation' } as const;
/** A copy of Kling's table of errors. */
const KLING_TABLE = 'inference-sh/grid api/klingai/docs/00-general.md';
const MINIMAX_TABLE = 'https://platform.minimax.io/docs/api-reference/errorcode';

const kling = (
  status: number,
  fault: Fault,
  code: number,
  message: string,
  more: Pick<ErrorPayload, 'source' | 'error_id'> = { source: KLING_TABLE },
): ErrorPayload =>
  sent(status, fault, { code, message, request_id: 'r' }, { protocol: 'kling', ...more });
const minimax = (
  fault: Fault,
  status_code: number,
  status_msg: string,
  more: Pick<ErrorPayload, 'source' | 'error_id'> = {},
): ErrorPayload =>
  sent(400, fault, { base_resp: { status_code, status_msg } }, { source: MINIMAX_TABLE, ...more });
/** An error of MiniMax's language models, which have the protocols of OpenAI and Anthropic. */
const chat = (type: string, message: string): object => ({
  ...{ type: 'error', error: { type, message }, request_id: 'r' },
});

/** Errors of providers of videos. */
export const VIDEO_ERRORS: readonly VendorErrors[] = [
  {
    vendor: 'Kling',
    payloads: [
      kling(401, 'account', 1000, 'Authentication failed'),
      kling(401, 'account', 1001, 'Authorization empty'),
      kling(401, 'account', 1002, 'Authorization invalid'),
      kling(401, 'account', 1003, 'Token not yet valid'),
      kling(401, 'account', 1004, 'Token expired'),
      kling(429, 'account', 1100, 'Account exception'),
      kling(429, 'account', 1101, 'Account in arrears'),
      kling(429, 'account', 1102, 'Resource pack depleted'),
      kling(403, 'account', 1103, 'Unauthorized access'),
      kling(429, 'account', 1304, 'IP whitelist policy'),
      kling(429, 'throttle', 1302, 'Rate limit exceeded'),
      kling(429, 'throttle', 1303, 'parallel task over resource pack limit', {
        source: 'https://klingai.com/document-api/api/get-started/concurrency-rules',
      }),
      kling(400, 'caller', 1200, 'Invalid parameters'),
      kling(400, 'caller', 1201, 'Invalid param value'),
      kling(404, 'broken', 1202, 'Invalid method'),
      kling(404, 'broken', 1203, 'Resource not found'),
      kling(400, 'caller', 1300, 'Platform policy triggered', { ...filtered, source: KLING_TABLE }),
      kling(400, 'caller', 1301, 'Content security policy', { ...filtered, source: KLING_TABLE }),
      kling(500, 'broken', 5000, 'Server internal error'),
      kling(503, 'overload', 5001, 'Server temporarily unavailable', {}),
      kling(504, 'broken', 5002, 'Server internal timeout', {}),
      sent(400, 'unclear', {
        code: 1201,
        message: 'The number means nothing at a channel of another protocol',
      }),
    ],
  },
  {
    vendor: 'MiniMax',
    payloads: [
      minimax('account', 1004, 'not authorized'),
      minimax('account', 1008, 'insufficient balance'),
      minimax('account', 2049, 'invalid api key', { source: 'MiniMax-AI/MiniMax-01#37' }),
      minimax('throttle', 1002, 'rate limit'),
      minimax('throttle', 1041, 'conn limit'),
      sent(400, 'throttle', {
        base_resp: { status_code: 2045, status_msg: 'rate growth limit' },
      }),
      minimax('broken', 1000, 'unknown error'),
      minimax('broken', 1001, 'request timeout'),
      minimax('broken', 1024, 'internal error'),
      minimax('broken', 1033, 'system error'),
      minimax('caller', 1026, 'input new_sensitive', filtered),
      minimax('caller', 1027, 'output new_sensitive', filtered),
      minimax('caller', 1039, 'token limit', { error_id: 'context_length_exceeded' }),
      minimax('caller', 2013, 'invalid params'),
      sent(
        401,
        'account',
        chat(
          'authorized_error',
          "login fail: Please carry the API secret key in the 'Authorization' field of the request header (1004)",
        ),
        { source: 'nearai/ironclaw#1742' },
      ),
      sent(500, 'account', chat('api_error', 'insufficient balance (1008)'), {
        source: 'MiniMax-AI/MiniMax-M2#62',
      }),
      sent(
        429,
        'account',
        {
          error: {
            http_code: '429',
            message: 'insufficient balance (1008)',
            type: 'insufficient_balance_error',
          },
          request_id: 'r',
        },
        { source: 'modelscope/modelscope#1691' },
      ),
      sent(
        429,
        'account',
        chat(
          'rate_limit_error',
          'usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (0/0 used), resets at 2026-05-15T15:00:00Z (2056)',
        ),
        { source: 'MiniMax-AI/MiniMax-M2.7#36' },
      ),
      sent(500, 'broken', chat('api_error', 'unknown error, 999 (1000)'), {
        source: 'MiniMax-AI/MiniMax-M3#6',
      }),
      ...[
        'invalid params, chat content has invalid message role: system (2013)',
        'invalid params, invalid chat setting (2013)',
      ].map((message) =>
        sent(
          400,
          'caller',
          {
            type: 'error',
            error: { type: 'bad_request_error', message, http_code: '400' },
            request_id: 'r',
          },
          { source: 'BigPizzaV3/CodexPlusPlus#267' },
        ),
      ),
      sent(
        400,
        'caller',
        chat('bad_request_error', 'invalid params, context window exceeds limit (2013)'),
        { error_id: 'context_length_exceeded', source: 'MiniMax-AI/MiniMax-M2#119' },
      ),
      sent(
        400,
        'broken',
        chat('bad_request_error', "invalid params, unknown model 'gpt-5.5' (2013)"),
        { source: 'jlcodes99/cockpit-tools#1431' },
      ),
    ],
  },
];
