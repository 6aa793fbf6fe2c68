import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base';
import { isObject } from '../../json/object.ts';

/** OpenAI's published count for chat: each message costs this much besides its text … */
const TOKENS_PER_MESSAGE = 3;
/** … and the answer is primed with as much (OpenAI cookbook: counting tokens). */
const TOKENS_TO_PRIME = 3;
/** An image costs at most about this much with either provider's rules. */
const TOKENS_PER_IMAGE = 1_600;
/** A document or a sound: counted by its size, generously. */
const BYTES_PER_TOKEN_OF_A_FILE = 4;

/**
 * The tokenizer's time grows with the square of a stretch without a word boundary, so a longer one
 * is counted in slices: at most one token a slice too many.
 */
const SLICE_CHARS = 2_000;
/** Beyond this a text is counted in part and the rest by the same ratio: counting blocks everybody. */
const MAX_COUNTED_CHARS = 200_000;

/** `<|endoftext|>` and its kin are ordinary characters in what a client sends. */
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() };

/** Tokens of a text, by the o200k vocabulary; for other vendors' models a close estimate. */
export function countTokens(text: string): number {
  const counted = Math.min(text.length, MAX_COUNTED_CHARS);
  let tokens = 0;
  for (let at = 0; at < counted; ) {
    const end = sliceEnd(text, at, counted);
    tokens += countO200k(text.slice(at, end), AS_PLAIN_TEXT);
    at = end;
  }
  return counted === text.length ? tokens : Math.ceil((tokens * text.length) / counted);
}

/** The last word boundary within a slice; none = the slice is cut where it ends. */
function sliceEnd(text: string, start: number, counted: number): number {
  const end = start + SLICE_CHARS;
  if (end >= counted) return counted;
  const space = text.lastIndexOf(' ', end);
  return space > start ? space : end;
}

interface Input {
  text: string[];
  messages: number;
  images: number;
  fileBytes: number;
}

/** What a body asks a model to read, in any chat dialect. */
function inputOf(body: Readonly<Record<string, unknown>>): Input {
  const input: Input = { text: [], messages: 0, images: 0, fileBytes: 0 };
  readContent(body['system'], input);
  readContent(body['instructions'], input);
  readItems(body['input'], input);
  readItems(body['contents'], input);
  readContent(partsOf(body['systemInstruction']), input);
  const { messages, tools, functions } = body;
  if (Array.isArray(messages)) {
    for (const message of messages) {
      input.messages += 1;
      if (!isObject(message)) continue;
      if (typeof message['role'] === 'string') input.text.push(message['role']);
      readContent(message['content'], input);
      if (message['tool_calls'] !== undefined)
        input.text.push(JSON.stringify(message['tool_calls']));
    }
  }
  const formats = [body['response_format'], body['output_config'], body['text']];
  for (const declared of [tools, functions, ...formats, body['generationConfig']]) {
    if (declared !== undefined) input.text.push(JSON.stringify(declared));
  }
  return input;
}

/** Items of responses, contents of Gemini: each a message, or as good as one. */
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

/** Parts of Gemini have no type, but a member. */
function readUntyped(part: Readonly<Record<string, unknown>>, input: Input): void {
  const data = part['inlineData'] ?? part['inline_data'];
  if (!isObject(data)) {
    input.text.push(typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part));
    return;
  }
  const kind = String(data['mimeType'] ?? data['mime_type']);
  if (kind.startsWith('image/')) input.images += 1;
  else input.fileBytes += JSON.stringify(data).length;
}

function besidesText({ messages, images, fileBytes }: Input): number {
  return (
    messages * TOKENS_PER_MESSAGE +
    TOKENS_TO_PRIME +
    images * TOKENS_PER_IMAGE +
    Math.ceil(fileBytes / BYTES_PER_TOKEN_OF_A_FILE)
  );
}

/** Input tokens of a request, at most: no vocabulary makes more tokens than a text has bytes. */
export function maxInputTokens(body: Readonly<Record<string, unknown>>): number {
  const input = inputOf(body);
  const bytes = input.text.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes + besidesText(input);
}

/** Input tokens of a request, counted: slower, and close to what the upstream will say. */
export function countInputTokens(body: Readonly<Record<string, unknown>>): number {
  const input = inputOf(body);
  const chars = input.text.reduce((sum, text) => sum + text.length, 0);
  // Many short texts are as dear to count as a long one: together they have the same bound.
  const texts = chars > MAX_COUNTED_CHARS ? [input.text.join(' ')] : input.text;
  return texts.reduce((sum, text) => sum + countTokens(text), 0) + besidesText(input);
}
