import {
  CHAT_PROTOCOLS,
  type ChatProtocol,
  CLIENT_PROTOCOLS,
  type ClientProtocol,
} from '../src/protocols/names.ts';
import { bedrockRefusal } from '../src/upstreams/chat/bedrock-limits.ts';
import { FEATURES, type Feature } from '../src/upstreams/translation/features.ts';
import {
  type RequestProtocol,
  readRequest,
  untranslatableError,
} from '../src/upstreams/translation/translate.ts';
import { abilitiesSection } from './model-abilities-page.ts';
import { sampleOf } from './protocol-samples.ts';

const CLIENTS: Record<ClientProtocol, string> = {
  openai: '`POST /v1/chat/completions`',
  anthropic: '`POST /v1/messages`, message batches',
  responses: '`POST /v1/responses`',
  gemini: '`POST /v1beta/models/{model}:generateContent`, `:streamGenerateContent`',
};

/** The columns: the wire format of each group of channel protocols. */
const COLUMNS: readonly { form: RequestProtocol; protocols: readonly ChatProtocol[] }[] = [
  { form: 'openai', protocols: ['openai', 'azure-openai'] },
  { form: 'responses', protocols: ['openai-responses'] },
  { form: 'anthropic', protocols: ['anthropic'] },
  { form: 'anthropic', protocols: ['bedrock'] },
  { form: 'gemini', protocols: ['gemini', 'vertex'] },
];

/** The wire format of each client protocol: its requests pass through without translation. */
const FORM_OF_CLIENT: Record<ClientProtocol, RequestProtocol> = {
  openai: 'openai',
  anthropic: 'anthropic',
  responses: 'responses',
  gemini: 'gemini',
};

/** The text of `docs/protocols.md`; each cell comes from the translation itself. */
export function protocolsPage(): string {
  return [INTRODUCTION, ...CLIENT_PROTOCOLS.map(section), abilitiesSection(), REST].join('\n');
}

const INTRODUCTION = `# Any client on any upstream

\`\`\`js
const client = new Anthropic({ baseURL: 'http://localhost:3000', apiKey });
await client.messages.create({ model: 'gpt-4o', max_tokens: 100, messages }); // answered by OpenAI
\`\`\`

Printed from the code by \`bun run protocols\`; a test checks every cell. A channel has one of the protocols
${CHAT_PROTOCOLS.map((name) => `\`${name}\``).join(', ')}. A client uses the protocol of its route.

- **as is**: client and upstream use the same protocol. Weir changes only the model's name and keeps all other bytes,
  also unknown parameters.
- **yes**: Weir translates it, streamed or not.
- **400 \`param\`**: the upstream's protocol cannot express it. Weir refuses the call and names the parameter. It drops
  nothing that [this list](left-out.md) does not name. If the model has a channel that can express it, that channel takes the call.
- **–**: the client's protocol cannot express it.
`;

function section(client: ClientProtocol): string {
  const lines = [
    `## ${CLIENTS[client]}`,
    '',
    `| a request with | ${COLUMNS.map(({ protocols }) => protocols.join(', ')).join(' | ')} |`,
    `|---|${COLUMNS.map(() => '---|').join('')}`,
    ...(Object.keys(FEATURES) as Feature[]).map((feature) => {
      const cells = COLUMNS.map(({ form, protocols: [protocol] }) =>
        cellOf(client, form, feature, protocol),
      );
      return `| ${named(feature)} | ${cells.join(' | ')} |`;
    }),
    '',
  ];
  return lines.join('\n');
}

const named = (feature: Feature) =>
  feature === 'other' ? 'a parameter that Weir does not know' : FEATURES[feature];

/** How a feature is kept although the protocol has no member for it. */
const KEPT_BY_WEIR: Partial<Record<RequestProtocol, Partial<Record<Feature, string>>>> = {
  openai: { failed_results: 'in the result’s text' },
  responses: { failed_results: 'in the result’s text', seed: 'left out, as a hint' },
  anthropic: { json_mode: 'by an instruction', seed: 'left out, as a hint' },
  gemini: {
    failed_results: 'as an `error` response',
    serial_calls: 'by Weir: it passes on only the first call',
    strict_tools: 'by the mode `VALIDATED`',
  },
};

/** How a feature of a request reaches an upstream: the text of one cell. */
export function cellOf(
  client: ClientProtocol,
  upstream: RequestProtocol,
  feature: Feature,
  protocol?: ChatProtocol,
): string {
  const body = sampleOf(client, feature);
  if (!body) return '–';
  if (protocol === 'bedrock') {
    const model = { physical_model: '', public_model: '' };
    const lacks = bedrockRefusal({ client, body }, model, () => readRequest(client, body).uses);
    if (lacks) return `400 \`${lacks.details.param}\``;
  }
  if (FORM_OF_CLIENT[client] === upstream) return 'as is';
  const refusal = untranslatableError(readRequest(client, body).uses, upstream);
  if (refusal) return `400 \`${refusal.details.param}\``;
  return KEPT_BY_WEIR[upstream]?.[feature] ?? 'yes';
}

const REST = `## What is always translated

| | how |
|---|---|
| turns, roles, text | through one neutral form ([neutral.ts](../src/upstreams/translation/neutral.ts)) |
| tool calls, also parallel ones, with ids and streamed arguments | ids are kept; for a protocol without ids (Gemini), calls are matched by name and order |
| results of tools | blocks, messages, items or parts |
| the reason why an answer ended | \`stop\`, \`end_turn\`, \`completed\`, \`STOP\` and so on are one value in the neutral form |
| usage, cached tokens, reasoning tokens | with each protocol's own sums: Anthropic's input excludes cached tokens, the others' includes them |
| thinking | returned if the client's protocol can express it; when the client sends it again, it goes with its signature to the provider that made it, and is dropped for another provider, also if the request [passes through](pass-through.md) |
| errors in the middle of a stream | the error events of the client's protocol, with \`code\`, \`param\` and \`request_id\`; responses end with \`error\` and \`response.failed\` |
| refusals of the upstream | the client's own name of the parameter, and the upstream's sentence if the client's protocol has all of its words; otherwise a plain sentence of Weir's |

Parameters that only describe the caller (\`user\`, \`metadata\`, \`labels\` …) never make Weir refuse a
call. They are left out if the upstream's protocol cannot express them. [A list](left-out.md) has every parameter that
is left out, with the reason. All others are translated, or refused by name.

## What has a price of its own

A parameter that can raise the bill beyond the prices of tokens is refused by name, on every route and for every
model: service tiers but the standard one, \`speed: "fast"\`, \`inference_geo\`, hosted tools, stored prompts and
conversations, answers as audio or images. Values that change nothing are accepted. The list is in
[billed-parameters.ts](../src/inference/requests/billed-parameters.ts). Only web search is priced: the tool
\`web_search\` of responses and \`web_search_…\` of messages. A request without \`max_tool_calls\` or \`max_uses\` gets
a bound of 10<!-- DEFAULT_WEB_SEARCHES --> searches.
`;
