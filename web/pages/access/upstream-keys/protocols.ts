/** A protocol of an own key, as the form shows it. */
interface Protocol {
  /** Its name in the API. */
  readonly protocol: string;
  /** What people call the provider. */
  readonly name: string;
  /** What its keys look like. */
  readonly example: string;
  /** What its address ends with; undefined if the API knows the address. */
  readonly address?: string;
}

/** The protocols whose address and models the API knows come first. */
export const PROTOCOLS: readonly Protocol[] = [
  { protocol: 'openai', name: 'OpenAI, or a server that speaks its chat', example: 'sk-…' },
  { protocol: 'anthropic', name: 'Anthropic', example: 'sk-ant-…' },
  { protocol: 'gemini', name: 'Google Gemini', example: 'AIza…' },
  { protocol: 'openai-images', name: 'OpenAI, images', example: 'sk-…' },
  { protocol: 'veo', name: 'Google Veo, videos', example: 'AIza…' },
  of('openai-responses', 'OpenAI, responses', 'https://…/v1', 'sk-…'),
  of('azure-openai', 'Azure OpenAI', 'https://….openai.azure.com/openai/v1'),
  of('azure-images', 'Azure OpenAI, images', 'the address of the deployment'),
  of('bedrock', 'Amazon Bedrock', 'https://bedrock-runtime.REGION.amazonaws.com', 'ID:SECRET'),
  of('vertex', 'Google Vertex AI', 'https://…/publishers/google', '{"type": "service_account", …}'),
  of('cohere', 'Cohere, rerank', 'https://api.cohere.com'),
  of('deepl', 'DeepL, translation', 'https://api.deepl.com'),
  of('xai', 'xAI, images and videos'),
  of('stability', 'Stability'),
  of('ideogram', 'Ideogram'),
  of('bfl', 'Black Forest Labs'),
  of('kling', 'Kling'),
  of('runway', 'Runway'),
  of('ark', 'Ark, images and videos'),
  of('midjourney', 'Midjourney'),
  of('suno', 'Suno'),
  of('fal', 'fal'),
  of('replicate', 'Replicate'),
];

function of(protocol: string, name: string, address = 'https://…', example = 'the key'): Protocol {
  return { protocol, name, example, address };
}

/** What people call the provider of a protocol. */
export const providerOf = (protocol: string): string =>
  PROTOCOLS.find((each) => each.protocol === protocol)?.name ?? protocol;

/** The protocol that is chosen, or else the first. */
export const protocolOf = (chosen: string): Protocol =>
  PROTOCOLS.find(({ protocol }) => protocol === chosen) ?? (PROTOCOLS[0] as Protocol);
