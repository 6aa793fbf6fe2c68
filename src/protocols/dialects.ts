/**
 * How vendors that speak OpenAI's chat completions differ from OpenAI. Each row names its source:
 * a package with its version, or an issue thread. `docs/compatible-vendors.md` explains the rows.
 */

/** The two names of the output limit in chat completions. */
export const OUTPUT_LIMITS = ['max_completion_tokens', 'max_tokens'] as const;
export type OutputLimitName = (typeof OUTPUT_LIMITS)[number];

/** The differences of one vendor. */
export interface Dialect {
  /** Hosts of the vendor. A subdomain counts too. A name with `:` is a port on any host. */
  readonly hosts: readonly string[];
  /** The name of the output limit that the vendor obeys. */
  readonly output_limit: OutputLimitName;
  /** False if the vendor refuses `stream_options`. It then reports the usage of each stream. */
  readonly has_stream_options: boolean;
  /** False if the vendor knows no role `developer`. Weir then sends the role `system`. */
  readonly has_developer_role: boolean;
  /** Members that have another name at the vendor: OpenAI's name → the vendor's name. */
  readonly renamed: Readonly<Record<string, string>>;
  /**
   * The member of an assistant's message that takes the reasoning of an earlier turn. Absent if the
   * vendor takes none.
   */
  readonly reasoning_member?: 'reasoning_content' | 'reasoning';
  /** Models that need this member in every message. The vendor's other models take none. */
  readonly needs_reasoning?: RegExp;
  /** Members that the vendor refuses, and that change neither the answer nor its price. */
  readonly left_out: readonly string[];
}

/** What most servers have in common that call themselves compatible. */
const COMPATIBLE = {
  output_limit: 'max_tokens',
  has_stream_options: true,
  has_developer_role: false,
  renamed: {},
  left_out: [],
} as const satisfies Omit<Dialect, 'hosts'>;

const OPENAI = {
  ...COMPATIBLE,
  hosts: ['api.openai.com'],
  output_limit: 'max_completion_tokens',
  has_developer_role: true,
} as const satisfies Dialect;

/** All dialects that a channel can be configured with. */
export const DIALECTS = {
  // openai 7.55.0, resources/chat/completions: ChatCompletionCreateParams. An unknown host is
  // treated as OpenAI, because it may be a proxy in front of OpenAI.
  openai: OPENAI,
  // @ai-sdk/openai-compatible 3.0.92: sends max_tokens and the role system only.
  compatible: { ...COMPATIBLE, hosts: [], reasoning_member: 'reasoning_content' },
  // @mistralai/mistralai 2.7.0, ChatCompletionStreamRequest: no other member is accepted. The
  // vendor refuses unknown members with 422 extra_forbidden (editor-code-assistant/eca#231).
  mistral: {
    ...COMPATIBLE,
    hosts: ['api.mistral.ai', 'codestral.mistral.ai'],
    has_stream_options: false,
    renamed: { seed: 'random_seed' },
    left_out: ['user'],
  },
  // @ai-sdk/groq 4.0.84: max_tokens, role system; usage of a stream is in x_groq.usage.
  groq: { ...COMPATIBLE, hosts: ['api.groq.com'], reasoning_member: 'reasoning' },
  // @ai-sdk/deepseek 3.0.56. max_completion_tokens is ignored (agentscope-ai/agentscope#2126), the
  // role developer is refused (earendil-works/pi#1048).
  deepseek: {
    ...COMPATIBLE,
    hosts: ['api.deepseek.com'],
    reasoning_member: 'reasoning_content',
    needs_reasoning: /deepseek-v4|^deepseek-(?:flash|pro)/,
  },
  // @ai-sdk/moonshotai 3.0.60: max_completion_tokens, role system.
  moonshot: {
    ...COMPATIBLE,
    hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
    output_limit: 'max_completion_tokens',
    reasoning_member: 'reasoning_content',
  },
  // @ai-sdk/alibaba 2.0.58: max_tokens, stream_options, role system.
  dashscope: {
    ...COMPATIBLE,
    hosts: [
      'dashscope.aliyuncs.com',
      'dashscope-intl.aliyuncs.com',
      'dashscope-us.aliyuncs.com',
      'maas.aliyuncs.com',
    ],
  },
  // earendil-works/pi, packages/ai, detectCompat: max_tokens, role system.
  zhipu: { ...COMPATIBLE, hosts: ['open.bigmodel.cn', 'api.z.ai'] },
  // earendil-works/pi, packages/ai, detectCompat: max_completion_tokens, role system.
  openrouter: {
    ...COMPATIBLE,
    hosts: ['openrouter.ai'],
    output_limit: 'max_completion_tokens',
  },
  // earendil-works/pi, packages/ai, detectCompat: max_tokens, role system.
  together: { ...COMPATIBLE, hosts: ['api.together.ai', 'api.together.xyz'] },
  // @ai-sdk/openai-compatible 3.0.92, on which the vendor's package is built.
  fireworks: { ...COMPATIBLE, hosts: ['api.fireworks.ai'] },
  // earendil-works/pi, packages/ai, detectCompat: max_completion_tokens, role system.
  xai: { ...COMPATIBLE, hosts: ['api.x.ai'], output_limit: 'max_completion_tokens' },
  // max_completion_tokens is not obeyed (nextcloud/integration_openai#426).
  ollama: { ...COMPATIBLE, hosts: ['ollama.com', ':11434'] },
} as const satisfies Record<string, Dialect>;

/** The name of a dialect. */
export type DialectName = keyof typeof DIALECTS;
export const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[];

/**
 * The names of the dialects by address, because each call needs its dialect; null for an unknown
 * host.
 */
const found = new Map<string, DialectName | null>();
/** Above this number, the names are looked up again. No configuration has so many addresses. */
const MAX_FOUND = 1_000;

/** Returns the name of the dialect that the host of an address speaks; `openai` if it is unknown. */
export function dialectOfAddress(base_url: string): DialectName {
  return knownDialect(base_url) ?? 'openai';
}

/** True if the host of an address is a vendor's of the table. */
export function isKnownHost(base_url: string): boolean {
  return knownDialect(base_url) !== null;
}

function knownDialect(base_url: string): DialectName | null {
  let name = found.get(base_url);
  if (name === undefined) {
    name = byHost(base_url) ?? null;
    if (found.size >= MAX_FOUND) found.clear();
    found.set(base_url, name);
  }
  return name;
}

function byHost(base_url: string): DialectName | undefined {
  const { hostname, port } = URL.canParse(base_url)
    ? new URL(base_url)
    : { hostname: '', port: '' };
  const isOf = (host: string) =>
    host.startsWith(':') ? `:${port}` === host : `.${hostname}`.endsWith(`.${host}`);
  return DIALECT_NAMES.find((name) => DIALECTS[name].hosts.some(isOf));
}
