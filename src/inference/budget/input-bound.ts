import { isObject } from '../../json/object.ts';
import { readImageSize } from './image-size.ts';
import { type ImageBound, imageBoundOf } from './image-tokens.ts';

type Body = Readonly<Record<string, unknown>>;

/** The most input tokens that a provider can bill for a request. */
export interface InputBound {
  /** Infinity if only the context window of the model limits the input. */
  readonly max_tokens: number;
  /**
   * True if the request names input that only the provider sees, e.g. a document by URL. The tokens
   * of such input cannot be counted from the request. For images see `image_tokens`.
   */
  readonly is_referenced: boolean;
  /** Upper bound for the images alone, tokens. Infinity if an image has no bound. */
  readonly image_tokens: number;
  /**
   * How often the provider reads the input. It reads the input twice if the request asks it to write
   * a summary first.
   */
  readonly passes: number;
}

/**
 * Tokens that a provider adds to a request with tools. Anthropic adds 159 to 804 tokens (Anthropic
 * docs: Tool use, Pricing).
 */
const TOOL_PROMPT_TOKENS = 1_000;

/**
 * Top-level members whose tokens are at most the bytes of the member, in any client protocol. A
 * member that is not in this list may refer to stored input, e.g. `prompt` of responses or
 * `cachedContent` of Gemini. Numbers and booleans need no entry.
 */
const TEXT_MEMBERS = new Set(
  (
    'model tool_choice functions function_call response_format stop ' +
    'stream_options user metadata store service_tier reasoning_effort verbosity modalities audio ' +
    'prediction logit_bias prompt_cache_key prompt_cache_retention prompt_cache_options ' +
    'safety_identifier cache_control moderation ' +
    'stop_sequences thinking output_config inference_geo speed anthropic_version anthropic_beta ' +
    'instructions include text reasoning truncation previous_response_id client_metadata ' +
    'toolConfig tool_config generationConfig ' +
    'generation_config safetySettings safety_settings labels serviceTier'
  ).split(' '),
);

/** Members that name input which the provider stores, or servers whose tools it calls. */
const REFERENCES = new Set(
  'prompt conversation cachedContent cached_content thread container mcp_servers'.split(' '),
);

/**
 * Returns the upper bound of the input tokens of a request. Every byte of the body counts as one
 * token, because a token of any vocabulary has at least one byte. So no member can be forgotten.
 * Images count with the most tokens that the provider bills, instead of their bytes. Every other
 * medium, every tool that the provider runs, and every unknown kind of input is limited only by the
 * model's context window.
 */
export function inputBound(body: Body, body_text: string, model_id: string): InputBound {
  const input = new Input(model_id);
  for (const name in body) {
    const read = READERS.get(name);
    if (read) read(body[name], input);
    else if (TEXT_MEMBERS.has(name) || !mayHoldInput(body[name])) continue;
    else if (REFERENCES.has(name)) input.addReference();
    else input.addUnbounded();
  }
  return input.bound(Buffer.byteLength(body_text));
}

/** Members that may have images, files or tools in them. Their text counts with its bytes. */
const READERS: ReadonlyMap<string, (value: unknown, input: Input) => void> = new Map([
  ['system', (value: unknown, input: Input) => input.readContent(value)],
  ['messages', readMessages],
  ['input', readItems],
  ['contents', readContents],
  ['systemInstruction', readInstruction],
  ['system_instruction', readInstruction],
  ['tools', readTools],
  ['context_management', readContextManagement],
]);

/** False for a value that cannot name any input: a number, a boolean, or something empty. */
function mayHoldInput(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/**
 * Reads `context_management`: Anthropic's object with `edits`, or the list of the Responses
 * protocol. An edit that clears the context does not add input. Every other edit makes the provider
 * write a summary (Anthropic docs: Context editing, Compaction).
 */
function readContextManagement(value: unknown, input: Input): void {
  const edits = isObject(value) ? value['edits'] : value;
  if (!Array.isArray(edits)) return;
  for (const edit of edits) {
    if (isObject(edit) && !String(edit['type']).startsWith('clear_')) input.addSummary();
  }
}

/** Collects the parts of a request that are not text. */
class Input {
  private image_tokens = 0;
  private image_chars = 0;
  private tool_tokens = 0;
  private is_open = false;
  private passes = 1;
  private is_referenced = false;

  private imageBound: ImageBound | undefined;

  constructor(private readonly model_id: string) {}

  /** Adds input that only the provider sees. It may be of any kind. */
  addReference(): void {
    this.is_open = true;
    this.is_referenced = true;
  }

  /**
   * Adds input whose tokens do not follow from its size: an inline file that is no image, a member
   * that may change the input, or a tool whose results are input.
   */
  addUnbounded(): void {
    this.is_open = true;
  }

  /** Adds a pass in which the provider summarises the input. */
  addSummary(): void {
    this.is_open = true;
    this.passes = 2;
  }

  addToolPrompt(): void {
    this.tool_tokens = TOOL_PROMPT_TOKENS;
  }

  /** Adds an image. `base64` is undefined for an image by URL or id. */
  addImage(base64: string | undefined): void {
    this.imageBound ??= imageBoundOf(this.model_id);
    this.image_tokens += this.imageBound(() =>
      base64 === undefined ? undefined : readImageSize(base64),
    );
    this.image_chars += base64?.length ?? 0;
  }

  /** Adds an image by URL. A `data:` URL has the image itself. */
  addImageUrl(url: unknown): void {
    const isInline = typeof url === 'string' && url.startsWith('data:');
    this.addImage(isInline ? url.slice(url.indexOf(',') + 1) : undefined);
  }

  /** Reads a list of parts that have a `type`, e.g. the content of a message. */
  readContent(content: unknown): void {
    if (!Array.isArray(content)) return;
    for (const part of content) if (isObject(part)) readPart(part, this);
  }

  bound(body_bytes: number): InputBound {
    const { is_open, image_tokens } = this;
    const text_tokens = body_bytes - this.image_chars + this.tool_tokens;
    return {
      max_tokens: is_open ? Number.POSITIVE_INFINITY : text_tokens + image_tokens,
      is_referenced: this.is_referenced,
      image_tokens,
      passes: this.passes,
    };
  }
}

function readMessages(messages: unknown, input: Input): void {
  if (!Array.isArray(messages)) return;
  for (const message of messages) {
    if (!isObject(message)) continue;
    input.readContent(message['content']);
    // An earlier answer with sound, by its id (OpenAI docs: Audio).
    if (isObject(message['audio'])) input.addReference();
  }
}

/** Reads `input` of responses. */
function readItems(items: unknown, input: Input): void {
  if (!Array.isArray(items)) return;
  for (const item of items) {
    if (!isObject(item)) continue;
    switch (item['type'] ?? 'message') {
      case 'message':
        input.readContent(item['content']);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        input.readContent(item['output']);
        break;
      case 'computer_call_output':
        if (isObject(item['output'])) readPart(item['output'], input);
        break;
      case 'function_call':
      case 'custom_tool_call':
      case 'reasoning':
        break;
      default:
        input.addReference();
    }
  }
}

/** Reads a part of a message. Parts of Gemini have no `type`. */
function readPart(part: Body, input: Input): void {
  switch (part['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'refusal':
    case 'summary_text':
    case 'reasoning_text':
    case 'thinking':
    case 'redacted_thinking':
    case 'tool_use':
      break;
    case 'image_url':
      input.addImageUrl(isObject(part['image_url']) ? part['image_url']['url'] : part['image_url']);
      break;
    case 'input_image':
    case 'computer_screenshot':
      input.addImageUrl(part['image_url']);
      break;
    case 'image': {
      const { source } = part;
      const isInline = isObject(source) && typeof source['data'] === 'string';
      input.addImage(isInline ? String(source['data']) : undefined);
      break;
    }
    case 'tool_result':
    case 'search_result':
      input.readContent(part['content']);
      break;
    case 'document':
      readDocument(part['source'], input);
      break;
    case 'input_audio':
      input.addUnbounded();
      break;
    case 'file':
    case 'input_file':
      readFile(isObject(part['file']) ? part['file'] : part, input);
      break;
    default:
      input.addReference();
  }
}

/** Reads the source of a document in Anthropic's protocol. */
function readDocument(source: unknown, input: Input): void {
  const type = isObject(source) ? source['type'] : undefined;
  if (!isObject(source) || type === 'text') return;
  if (type === 'content') input.readContent(source['content']);
  else if (type === 'base64') input.addUnbounded();
  else input.addReference();
}

function readFile(file: Body, input: Input): void {
  const isInline = typeof file['file_data'] === 'string' && file['file_data'].startsWith('data:');
  if (isInline && !file['file_id'] && !file['file_url']) input.addUnbounded();
  else input.addReference();
}

/** Members of a Gemini part that are only text, or that describe another member. */
const TEXT_PARTS = new Set(
  (
    'text thought thoughtSignature thought_signature functionCall function_call mediaResolution ' +
    'media_resolution partMetadata part_metadata'
  ).split(' '),
);

function readContents(contents: unknown, input: Input): void {
  if (!Array.isArray(contents)) return;
  for (const content of contents) readInstruction(content, input);
}

/** Reads the `parts` of a Gemini content. */
function readInstruction(content: unknown, input: Input): void {
  if (!isObject(content) || !Array.isArray(content['parts'])) return;
  for (const part of content['parts']) if (isObject(part)) readGeminiPart(part, input);
}

function readGeminiPart(part: Body, input: Input): void {
  for (const name in part) {
    const value = part[name];
    if (TEXT_PARTS.has(name)) continue;
    if (name === 'inlineData' || name === 'inline_data') readInlineData(value, input);
    else if (name === 'functionResponse' || name === 'function_response') {
      readInstruction(value, input);
    } else if (value !== null && value !== undefined) input.addReference();
  }
}

function readInlineData(data: unknown, input: Input): void {
  if (!isObject(data)) return;
  const { mimeType, mime_type } = data;
  const names = [mimeType, mime_type].filter((name) => name !== undefined);
  const isImage = names.length > 0 && names.every((name) => String(name).startsWith('image/'));
  if (isImage && typeof data['data'] === 'string') input.addImage(data['data']);
  else input.addUnbounded();
}

function readTools(tools: unknown, input: Input): void {
  if (!Array.isArray(tools) || tools.length === 0) return;
  input.addToolPrompt();
  for (const tool of tools) if (!isClientTool(tool)) input.addUnbounded();
}

const FUNCTION_MEMBERS = ['functionDeclarations', 'function_declarations'];

/** True for a tool that the client runs. */
function isClientTool(tool: unknown): boolean {
  if (!isObject(tool)) return true;
  const { type } = tool;
  if (typeof type === 'string') return type === 'function' || type === 'custom';
  // In Anthropic's protocol the type of a client's tool may be missing.
  if (typeof tool['name'] === 'string') return true;
  return Object.keys(tool).every((name) => FUNCTION_MEMBERS.includes(name));
}
