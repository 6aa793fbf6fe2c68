import { CHAT_PROTOCOLS, CLIENT_PROTOCOLS, type ClientProtocol } from '../src/protocols/names.ts';
import { FEATURES, type Feature } from '../src/upstreams/translation/features.ts';
import {
  type RequestForm,
  readRequest,
  untranslatableError,
} from '../src/upstreams/translation/translate.ts';
import { sampleOf } from './protocol-samples.ts';

const CLIENTS: Record<ClientProtocol, string> = {
  openai: '`POST /v1/chat/completions`',
  anthropic: '`POST /v1/messages`, message batches',
  responses: '`POST /v1/responses`',
  gemini: '`POST /v1beta/models/{model}:generateContent`, `:streamGenerateContent`',
};

/** What an upstream reads, by the words that it reads. */
const WORDS: Record<RequestForm, string> = {
  openai: 'openai, azure-openai',
  responses: 'openai-responses',
  anthropic: 'anthropic, bedrock',
  gemini: 'gemini, vertex',
};

const OWN: Partial<Record<ClientProtocol, RequestForm>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  responses: 'responses',
  gemini: 'gemini',
};

/** The page, made by asking the translation itself. */
export function protocolsPage(): string {
  return [INTRODUCTION, ...CLIENT_PROTOCOLS.map(section), REST].join('\n');
}

const INTRODUCTION = `# Any client on any upstream

\`\`\`js
const client = new Anthropic({ baseURL: 'http://localhost:3000', apiKey });
await client.messages.create({ model: 'gpt-4o', max_tokens: 100, messages }); // answered by OpenAI
\`\`\`

Printed from the code by \`bun run protocols\`; a test asks every cell. A channel speaks one of
${CHAT_PROTOCOLS.map((name) => `\`${name}\``).join(', ')}; a client speaks the protocol of its route.

- **as is**: client and upstream speak the same protocol. The body goes through byte by byte but for
  the model's name; what Weir does not know is kept.
- **yes**: it is translated, streamed or not.
- **400 \`param\`**: the upstream has no words for it. The call is refused and the parameter is named;
  nothing is left out in silence. Where a model has several channels, one that can say it takes the call.
- **–**: the client's protocol has no words for it.
`;

function section(client: ClientProtocol): string {
  const upstreams = Object.keys(WORDS) as RequestForm[];
  const lines = [
    `## ${CLIENTS[client]}`,
    '',
    `| a request with | ${upstreams.map((each) => WORDS[each]).join(' | ')} |`,
    `|---|${upstreams.map(() => '---|').join('')}`,
    ...(Object.keys(FEATURES) as Feature[]).map((feature) => {
      const cells = upstreams.map((upstream) => cellOf(client, upstream, feature));
      return `| ${named(feature)} | ${cells.join(' | ')} |`;
    }),
    '',
  ];
  return lines.join('\n');
}

const named = (feature: Feature) =>
  feature === 'other' ? 'a parameter that nobody knows' : FEATURES[feature];

/** What a protocol has no member for, and is kept all the same. */
const KEPT_BY_WEIR: Partial<Record<RequestForm, Partial<Record<Feature, string>>>> = {
  openai: { failed_results: 'in the result’s text' },
  responses: { failed_results: 'in the result’s text' },
  gemini: {
    failed_results: 'as an `error` response',
    serial_calls: 'by Weir: one call is let through',
  },
};

/** What becomes of a need between two protocols. */
export function cellOf(client: ClientProtocol, upstream: RequestForm, feature: Feature): string {
  const body = sampleOf(client, feature);
  if (!body) return '–';
  if (OWN[client] === upstream) return 'as is';
  const refusal = untranslatableError(readRequest(client, body).uses, upstream);
  if (refusal) return `400 \`${refusal.details.param}\``;
  return KEPT_BY_WEIR[upstream]?.[feature] ?? 'yes';
}

const REST = `## What is always translated

| | how |
|---|---|
| turns, roles, text | one neutral form in the middle ([neutral.ts](../src/upstreams/translation/neutral.ts)) |
| tool calls, several at once, their ids and streamed arguments | ids are kept; a protocol without ids (Gemini) gets calls matched by name and order |
| results of tools | as blocks, messages, items or parts |
| why an answer ended | \`stop\`, \`end_turn\`, \`completed\`, \`STOP\` and so on are one word each in the middle |
| usage, cached tokens, reasoning tokens | each protocol's own sums: Anthropic's input excludes what was cached, the others' includes it |
| thinking | shown where the client's protocol shows it; taken back with its signature by the vendor that made it, left out for another one |
| errors in the middle of a stream | an error event of the client's protocol |

Parameters that only name the caller (\`user\`, \`metadata\`, \`labels\`, \`service_tier\` …) never refuse a
call: they are left out where the upstream has no words for them.
`;
