/**
 * The most that a provider may bill for a request that it received. The rules are written here a
 * second time, from the providers' documentation, and share no code with the budget.
 */
import type { ChatModel } from '../../../src/catalogue/catalogue.ts';
import { chargeFor } from '../../../src/catalogue/price.ts';
import type { ChatProtocol } from '../../../src/protocols/names.ts';

/** An object with all its members, even those whose name is repeated. */
class Members {
  readonly entries: [string, Json][] = [];
  /** All values of these names. A provider may use any of them. */
  all(...names: string[]): Json[] {
    return this.entries.filter(([name]) => names.includes(name)).map(([, value]) => value);
  }
}
type Json = string | number | boolean | null | Json[] | Members;

/** Parses JSON and keeps repeated members, because parsers differ in which one they use. */
function parse(text: string): Json {
  let at = 0;
  const skip = () => {
    while (/\s/.test(text[at] ?? '')) at += 1;
  };
  const take = (pattern: RegExp): string => {
    const [found = ''] = text.slice(at).match(pattern) ?? [];
    at += found.length;
    return found;
  };
  const readList = (close: string, readOne: () => void) => {
    at += 1;
    for (skip(); text[at] !== close; skip()) {
      readOne();
      skip();
      if (text[at] === ',') at += 1;
    }
    at += 1;
  };
  const read = (): Json => {
    skip();
    if (text[at] === '{') {
      const members = new Members();
      readList('}', () => {
        const name = read() as string;
        skip();
        at += 1;
        members.entries.push([name, read()]);
      });
      return members;
    }
    if (text[at] === '[') {
      const list: Json[] = [];
      readList(']', () => list.push(read()));
      return list;
    }
    return JSON.parse(take(/^("(?:[^"\\]|\\.)*"|[^,\]}\s]+)/s));
  };
  return read();
}

const objects = (values: Json[]) => values.filter((value) => value instanceof Members);

/** Every object of a request, at any depth. */
function* walk(value: Json): Generator<Members> {
  if (Array.isArray(value)) for (const each of value) yield* walk(each);
  if (!(value instanceof Members)) return;
  yield value;
  for (const [, each] of value.entries) yield* walk(each);
}

function* strings(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  if (Array.isArray(value)) for (const each of value) yield* strings(each);
  if (!(value instanceof Members)) return;
  for (const [name, each] of value.entries) {
    yield name;
    yield* strings(each);
  }
}

/** The largest of the values. Gemini also reads numbers in strings (protobuf: JSON mapping). */
function largest(values: Json[], otherwise: number, readsText: boolean): number {
  const counts = values
    .filter((value) => value !== null && (readsText || typeof value === 'number'))
    .map(Number)
    .map((value) => (Number.isInteger(value) && value > 0 ? value : otherwise));
  return counts.length > 0 ? Math.max(...counts) : otherwise;
}

interface Output {
  /** For all answers together. */
  readonly tokens: number;
  readonly answers: number;
}

/** The most output tokens that the request allows. Reasoning counts toward the limit. */
function maxOutput(format: Format, body: Members, model: ChatModel): Output {
  const isGemini = format === 'gemini';
  const holders = isGemini ? objects(body.all('generationConfig', 'generation_config')) : [body];
  const names: Record<Format, string[]> = {
    openai: ['max_tokens', 'max_completion_tokens'],
    responses: ['max_output_tokens'],
    anthropic: ['max_tokens'],
    gemini: ['maxOutputTokens', 'max_output_tokens'],
  };
  const valuesOf = (...wanted: string[]) => holders.flatMap((holder) => holder.all(...wanted));
  const limit = largest(valuesOf(...names[format]), model.max_output_tokens, isGemini);
  const counts = valuesOf(...(isGemini ? ['candidateCount', 'candidate_count'] : ['n', 'best_of']));
  const answers = format === 'openai' || isGemini ? largest(counts, 1, isGemini) : 1;
  // Rejected tokens of a prediction are billed in addition (OpenAI docs: Predicted Outputs).
  const prediction = format === 'openai' ? textBytes(body.all('prediction')) : 0;
  return { tokens: Math.min(limit, model.max_output_tokens) * answers + prediction, answers };
}

const textBytes = (value: Json) =>
  [...strings(value)].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Tokens of one image of 1 × 1 pixel in the largest form that the docs allow for its kind. */
const IMAGE_TOKENS: Record<string, { inline: number; by_url: number }> = {
  'gpt-4o-mini': { inline: 8_500, by_url: 2_833 + 8 * 5_667 },
  'gpt-5.4': { inline: 10_000, by_url: 10_000 },
  'gpt-5.6-sol': { inline: 1, by_url: Number.POSITIVE_INFINITY },
  'claude-sonnet-4-5': { inline: 1_568, by_url: 1_568 },
  'claude-opus-4-7': { inline: 4_784, by_url: 4_784 },
  'gemini-2.5-pro': { inline: 258, by_url: Number.POSITIVE_INFINITY },
  'gemini-3-flash-preview': { inline: 2_240, by_url: 2_240 },
};
/** The models for which the rules of images are written above. */
export const JUDGED_MODELS = Object.keys(IMAGE_TOKENS);

/** Members that name media or stored input whose size only the provider knows. */
const UNBOUNDED = [
  ...['input_audio', 'file', 'file_id', 'file_url', 'file_data', 'fileData', 'file_data'],
  ...['cachedContent', 'cached_content', 'prompt', 'conversation', 'container', 'mcp_servers'],
  ...['googleSearch', 'google_search', 'urlContext', 'codeExecution', 'web_search_options'],
];
const PROVIDER_TOOLS = ['web_search', 'web_search_20250305', 'file_search', 'code_interpreter'];

/** The most input tokens. In the worst vocabulary, each byte of a text is one token. */
function maxInput(body: Members, model: ChatModel, window: number): number {
  let tokens = 16;
  const imageSources = new Set<Json>();
  for (const each of walk(body)) {
    const [type] = each.all('type');
    const source = objects(each.all('source'))[0];
    const inline = objects(each.all('inlineData', 'inline_data'))[0];
    // Gemini fetches a file by URL as the type that the request names (Gemini API docs: File input
    // methods).
    const fetched = objects(each.all('fileData', 'file_data')).flatMap((file) =>
      file.all('mimeType', 'mime_type').map(String),
    );
    const isImage =
      inline ||
      (fetched.length > 0 && fetched.every((name) => name.startsWith('image/'))) ||
      ['image', 'image_url', 'input_image'].includes(String(type));
    // A provider refuses a file that is no image in the place of an image.
    if (isImage && source) imageSources.add(source);
    const names = each.entries.filter(([, value]) => value !== null).map(([name]) => name);
    const isUnbounded = names.some((name) => UNBOUNDED.includes(name));
    if (isUnbounded && !isImage && !imageSources.has(each)) return window;
    if (PROVIDER_TOOLS.includes(String(type))) return window;
    if (type === 'document' && String(source?.all('type')[0]) !== 'text') return window;
    if (inline && !String(inline.all('mimeType', 'mime_type')[0]).startsWith('image/')) {
      return window;
    }
    if (!isImage) continue;
    const isInline = [...strings(each)].some((text) => text.includes('iVBOR'));
    const image = IMAGE_TOKENS[model.id] as { inline: number; by_url: number };
    tokens += isInline ? image.inline : image.by_url;
  }
  // The tool prompt of Anthropic, for any choice of tools.
  if (body.all('tools').length > 0) tokens += 804;
  for (const text of strings(body.all(...TEXTS))) {
    if (!text.includes('iVBOR')) tokens += Buffer.byteLength(text);
  }
  return Math.min(tokens, window);
}

/** Members whose text the model reads. */
const TEXTS = [
  ...['messages', 'system', 'input', 'instructions', 'contents', 'tools', 'functions'],
  ...['systemInstruction', 'system_instruction', 'response_format'],
];

type Format = 'openai' | 'responses' | 'anthropic' | 'gemini';
const FORMATS: Record<ChatProtocol, Format> = {
  openai: 'openai',
  'azure-openai': 'openai',
  'openai-responses': 'responses',
  anthropic: 'anthropic',
  bedrock: 'anthropic',
  gemini: 'gemini',
  vertex: 'gemini',
};

/** A bill of a provider at list price, nano-USD. */
export interface Bill {
  readonly total: number;
  /** The bill if the answer has no more than this many tokens. */
  readonly upTo: (output_tokens: number) => number;
  readonly output: Output;
}

/** Returns the highest bill for what the provider received. */
export function highestBill(
  protocol: ChatProtocol,
  wire: { text: string; beta: string | null },
  model: ChatModel,
): Bill {
  const body = parse(wire.text) as Members;
  const long = `${wire.beta ?? ''}${[...strings(body.all('anthropic_beta'))].join()}`;
  const isLong = model.id.startsWith('claude') && long.includes('context-1m');
  const window = isLong ? 1_000_000 : model.context_window;
  const input = maxInput(body, model, window);
  const output = maxOutput(FORMATS[protocol], body, model);
  const markers = [...walk(body)].flatMap((each) => objects(each.all('cache_control')));
  // Claude writes to its cache only on request, over any protocol.
  const isAnthropic = model.id.startsWith('claude');
  const mayWrite = isAnthropic ? markers.length > 0 : true;
  const mayWrite1h = isAnthropic && markers.some((each) => each.all('ttl').includes('1h'));
  const upTo = (output_tokens: number) => {
    const none = { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens };
    return Math.max(
      chargeFor({ ...none, input_tokens: input }, model.price),
      chargeFor({ ...none, cached_input_tokens: input }, model.price),
      mayWrite ? chargeFor({ ...none, cache_write_tokens: input }, model.price) : 0,
      mayWrite1h
        ? chargeFor(
            { ...none, cache_write_tokens: input, cache_write_1h_tokens: input },
            model.price,
          )
        : 0,
    );
  };
  return { total: upTo(output.tokens), upTo, output };
}
