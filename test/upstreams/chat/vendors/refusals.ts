/** Error bodies with which servers refused a member by its name, each with its source. */

export interface Refusal {
  source: string;
  status: number;
  /** Returns the error body for a member. */
  body: (member: string) => object;
}

export const REFUSALS: Refusal[] = [
  {
    source: 'github.com/editor-code-assistant/eca/issues/231 (Mistral)',
    status: 422,
    body: (member) => ({
      object: 'error',
      message: {
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', member],
            msg: 'Extra inputs are not permitted',
            input: 32000,
          },
        ],
      },
      type: 'invalid_request_error',
      param: null,
      code: null,
    }),
  },
  {
    source: 'github.com/partITech/php-mistral/issues/76 (Mistral)',
    status: 422,
    body: (member) => ({
      object: 'Error',
      detail: [
        { type: 'extra_forbidden', loc: ['body', member], msg: 'Extra inputs are not permitted' },
      ],
      type: 'invalid_request_error',
      code: 3001,
    }),
  },
  {
    source: 'github.com/mistralai/platform-docs-public/issues/7 (Mistral, 2024)',
    status: 422,
    body: (member) => ({
      object: 'error',
      message: JSON.stringify({
        detail: [
          {
            type: 'extra_forbidden',
            loc: ['body', member],
            msg: 'Extra inputs are not permitted',
            input: 0,
            url: 'https://errors.pydantic.dev/2.5/v/extra_forbidden',
          },
        ],
      }),
      type: 'internal_error_proxy',
      param: null,
      code: '1000',
    }),
  },
  {
    source: 'github.com/1Panel-dev/MaxKB/issues/2912, github.com/voideditor/void/issues/128 (vLLM)',
    status: 400,
    body: (member) => ({
      object: 'error',
      message: `[{'type': 'extra_forbidden', 'loc': ('body', '${member}'), 'msg': 'Extra inputs are not permitted', 'input': 800}]`,
      type: 'BadRequestError',
      param: null,
      code: 400,
    }),
  },
  {
    source: 'github.com/QuantumNous/new-api/issues/418 (a gateway)',
    status: 400,
    body: (member) => ({
      error: {
        message: `Unknown parameter: '${member}'. (request id: 2024080621443691)`,
        type: 'invalid_request_error',
        param: member,
        code: 'unknown_parameter',
      },
    }),
  },
  {
    source: 'github.com/storm1er on ITSpecialist111/ai_automation_suggester/issues/38 (OpenAI)',
    status: 400,
    body: (member) => ({
      error: {
        message: `Unsupported parameter: '${member}' is not supported with this model.`,
        type: 'invalid_request_error',
        param: member,
        code: 'unsupported_parameter',
      },
    }),
  },
  {
    source: 'github.com/Pythagora-io/gpt-pilot/issues/1022 (Azure)',
    status: 400,
    body: (member) => ({
      error: {
        message: `Unrecognized request argument supplied: ${member}. Please contact us through an Azure support request.`,
        type: 'invalid_request_error',
        param: '',
        code: null,
      },
    }),
  },
  {
    source: 'github.com/vercel/ai/pull/1578 (Groq)',
    status: 400,
    body: (member) => ({
      error: {
        message: `property '${member}' is unsupported, did you mean 'stream'?`,
        type: 'invalid_request_error',
      },
    }),
  },
];
