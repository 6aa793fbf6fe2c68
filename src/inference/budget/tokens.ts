import { isObject } from '../../json/object.ts';
import { o200k } from './vocabulary.ts';

/** Tokens of a chat message in addition to its text (OpenAI cookbook: counting tokens). */
const TOKENS_PER_MESSAGE = 3;
/** Tokens that start the answer (OpenAI cookbook: counting tokens). */
const TOKENS_TO_PRIME = 3;
/** The tokens of a large image, for most models. */
const TOKENS_PER_IMAGE = 1_600;
/**
 * The tokens of documents and audio are estimated from their size. This ratio overestimates them.
 */
const FILE_BYTES_PER_TOKEN = 4;

/**
 * If a text has no word boundary, the tokenizer's time grows with the square of the text's length.
 * So a text that is longer than this is counted in slices. This adds at most one token per slice.
 */
const SLICE_CHARS = 2_000;
/**
 * The tokenizer counts only this many characters of a text. The rest is estimated to have the same
 * number of tokens per character. Counting blocks the event loop, so it must stay short.
 */
const MAX_COUNTED_CHARS = 200_000;

/** In a client's text, `<|endoftext|>` and other special tokens are ordinary characters. */
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * Returns the number of tokens of a text by the o200k vocabulary. For models of other providers the
 * number is a close estimate.
 */
export function countTokens(text: string): number {
  const counted_chars = Math.min(text.length, MAX_COUNTED_CHARS);
  let tokens = 0;
  for (let start = 0; start < counted_chars; ) {
    const end = sliceEnd(text, start, counted_chars);
    tokens += o200k().countTokens(text.slice(start, end), AS_PLAIN_TEXT);
    start = end;
  }
  return counted_chars === text.length ? tokens : Math.ceil((tokens * text.length) / counted_chars);
}

/** Returns the last word boundary of a slice, or the end of the slice if there is none. */
function sliceEnd(text: string, start: number, counted_chars: number): number {
  const end = start + SLICE_CHARS;
  if (end >= counted_chars) return counted_chars;
  const space = text.lastIndexOf(' ', end);
  return space > start ? space : end;
}

/** The parts of a request that a model reads. */
interface Input {
  text: string[];
  messages: number;
  images: number;
  fileBytes: number;
}

/** Collects the input of a chat request, in any client protocol. */
function collectInput(body: Readonly<Record<string, unknown>>): Input {
  const input: Input = { text: [], messages: 0, images: 0, fileBytes: 0 };
  readContent(body['system'], input);
  readContent(body['instructions'], input);
  readItems(body['input'], input);
  readItems(body['contents'], input);
  readContent(partsOf(body['systemInstruction'] ?? body['system_instruction']), input);
  const { messages, tools, functions } = body;
  if (Array.isArray(messages)) {
    for (const message of messages) {
      input.messages += 1;
      if (!isObject(message)) continue;
      if (typeof message['role'] === 'string') input.text.push(message['role']);
      readContent(message['content'], input);
      readOthers(message, input);
    }
  }
  const formats = [body['response_format'], body['output_config'], body['text']];
  for (const declared of [tools, functions, ...formats, body['generationConfig']]) {
    if (declared !== undefined) input.text.push(JSON.stringify(declared));
  }
  return input;
}

/** Reads the other members of a chat message, e.g. `tool_calls`, `name` and `refusal`. */
function readOthers(message: Readonly<Record<string, unknown>>, input: Input): void {
  for (const [name, value] of Object.entries(message)) {
    if (name === 'role' || name === 'content') continue;
    if (typeof value === 'string') input.text.push(value);
    else if (typeof value === 'object' && value !== null) input.text.push(JSON.stringify(value));
  }
}

/**
 * Reads `input` of the Responses protocol, or `contents` of the Gemini protocol. Each entry of the
 * list counts as one message.
 */
function readItems(items: unknown, input: Input): void {
  if (typeof items === 'string') input.messages += 1;
  readContent(typeof items === 'string' ? items : undefined, input);
  if (!Array.isArray(items)) return;
  for (const item of items) {
    input.messages += 1;
    if (!isObject(item)) continue;
    const content = item['content'] ?? item['parts'];
    if (content === undefined) input.text.push(JSON.stringify(item));
    else readContent(content, input);
  }
}

function partsOf(content: unknown): unknown {
  return isObject(content) ? content['parts'] : undefined;
}

function readContent(content: unknown, input: Input): void {
  if (typeof content === 'string') input.text.push(content);
  if (!Array.isArray(content)) return;
  for (const part of content) {
    if (!isObject(part)) continue;
    switch (part['type']) {
      case 'text':
      case 'input_text':
      case 'output_text':
      case 'refusal':
        if (typeof part['text'] === 'string') input.text.push(part['text']);
        break;
      case 'image':
      case 'image_url':
      case 'input_image':
        input.images += 1;
        break;
      case 'input_audio':
      case 'file':
      case 'input_file':
      case 'document':
        input.fileBytes += JSON.stringify(part).length;
        break;
      case 'tool_result':
        readContent(part['content'], input);
        break;
      default:
        readUntyped(part, input);
    }
  }
}

/**
 * Reads one entry of Gemini's `parts`. An entry has no `type`; the name of its member tells the
 * kind.
 */
function readUntyped(part: Readonly<Record<string, unknown>>, input: Input): void {
  const data = part['inlineData'] ?? part['inline_data'];
  if (!isObject(data)) {
    input.text.push(typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part));
    return;
  }
  const media_type = String(data['mimeType'] ?? data['mime_type']);
  if (media_type.startsWith('image/')) input.images += 1;
  else input.fileBytes += JSON.stringify(data).length;
}

/** The counted input of a request. */
export interface CountedInput {
  /** Tokens of everything but images. */
  readonly tokens: number;
  readonly images: number;
}

/**
 * Counts the input of a request with a tokenizer. Counting is slower than `inputBound`. The count is
 * close to what the upstream will report.
 */
export function countInput(body: Readonly<Record<string, unknown>>): CountedInput {
  const input = collectInput(body);
  const { messages, images, fileBytes } = input;
  const chars = input.text.reduce((sum, text) => sum + text.length, 0);
  // Many short texts take as long to count as one long text. So `MAX_COUNTED_CHARS` limits all
  // texts of a request together.
  const texts = chars > MAX_COUNTED_CHARS ? [input.text.join(' ')] : input.text;
  const text_tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  const frame_tokens = messages * TOKENS_PER_MESSAGE + TOKENS_TO_PRIME;
  const file_tokens = Math.ceil(fileBytes / FILE_BYTES_PER_TOKEN);
  return { tokens: text_tokens + frame_tokens + file_tokens, images };
}

/** Returns the input tokens of a counted request. Each image has the tokens of a large image. */
export function inputTokensOf({ tokens, images }: CountedInput): number {
  return tokens + images * TOKENS_PER_IMAGE;
}

/** Returns the input tokens of a request, counted with a tokenizer. */
export function countInputTokens(body: Readonly<Record<string, unknown>>): number {
  return inputTokensOf(countInput(body));
}
