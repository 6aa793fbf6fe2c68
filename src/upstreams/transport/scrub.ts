import type { UpstreamCall } from '../contract.ts';
import { redact } from './credentials.ts';

const MAX_MESSAGE_CHARS = 500;
/** The text that stands for the model's name while the other patterns are applied. */
const MODEL_MARK = '\u0000';

/** Texts in messages that reveal the upstream, and their replacements. */
const REVEALING_TEXTS: [pattern: RegExp, replacement: string][] = [
  // Whole addresses, as in "You can find your API key at https://…".
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"`)\]}>]+/gi, ''],
  [/\b(?:[a-z0-9-]+\.)+(?:com|ai|io|net|org|dev|cloud|internal|local|cn)\b(?::\d+)?/gi, '***'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '***'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '***'],
  // Ids and fragments of keys contain a digit or a `*`. Names of parameters contain neither.
  [/\b(?:req|org|proj|acct|sk|key|user|team)[-_](?=[\w*-]*[\d*])[\w*-]{4,}/g, '***'],
  [/\s*\(?\brequest[ _-]?id:?\s*[\w*-]+\)?/gi, ''],
  // Names of providers, except in names of headers that the client sends.
  [/\b(?:openai|anthropic|azure|bedrock|vertex ai)\b(?!-(?:beta|version))/gi, 'the provider'],
];

/** Names of providers that are no ordinary words. */
const PROVIDERS =
  /\b(?:openrouter|groq|deepseek|mistral(?: ai)?|cohere|elevenlabs|deepl|runwayml|dashscope|aliyun|alibaba(?: cloud)?|volcengine|bytedance|moonshot(?: ai)?|zhipu(?: ai)?|bigmodel|siliconflow|minimax|hugging ?face|together ai|fireworks ai|stability ai|black forest labs|ideogram|midjourney|google(?: cloud)?|amazon web services|aws|xai|vertex)\b(?![-_./])/gi;
/** Names of providers that are ordinary words too. They count only if they are capitalized. */
const CAPITALIZED =
  /(?<![\w-])(?:Runway|Kling|Replicate|Gemini|Suno|Fal|Jina|Kimi|Amazon)\b(?![-_./])/g;

/**
 * Replaces names of providers. A name that is a part of the public model's name reveals nothing,
 * and the client knows it.
 */
function withoutProviders(text: string, public_model: string): string {
  const model = public_model.toLowerCase();
  const replacement = (name: string) =>
    model.includes(name.split(' ')[0]?.toLowerCase() ?? name) ? name : 'the provider';
  return text.replace(PROVIDERS, replacement).replace(CAPITALIZED, replacement);
}

/**
 * Returns an upstream's message without anything that reveals the upstream (P5): the physical
 * model, addresses, request and organization ids, fragments of keys. At most 500 characters.
 */
export function scrub(
  message: string,
  call: Pick<UpstreamCall, 'physical_model' | 'public_model' | 'target'>,
): string {
  const { physical_model, public_model, target } = call;
  // The key is removed first: a cut through the key would leave its start.
  let text = redact(message, target.api_key).slice(0, 4 * MAX_MESSAGE_CHARS);
  if (target.api_key !== '') text = text.replaceAll(target.api_key, '***');
  for (const name of [physical_model, public_model]) {
    if (name !== '') text = text.replaceAll(name, MODEL_MARK);
  }
  for (const [pattern, replacement] of REVEALING_TEXTS) text = text.replace(pattern, replacement);
  text = withoutProviders(text, public_model);
  return text.replaceAll(MODEL_MARK, public_model).slice(0, MAX_MESSAGE_CHARS).trim();
}
