import { JSONParser, TokenType } from '@streamparser/json';
import type { NewItem } from '../../../../db/batches/items.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import { isObject } from '../../../json/object.ts';
import { MAX_JSON_DEPTH } from '../../body.ts';

/** The vendor's own bounds (Anthropic docs: Batch processing). */
export const MAX_ITEMS = 100_000;
const MAX_CUSTOM_ID_CHARS = 64;
const CUSTOM_ID = /^[a-zA-Z0-9_-]+$/;
/** Bytes that are parsed before others get their turn. */
const SLICE_BYTES = 16 * 1024;
const MAX_QUOTED_CHARS = 100;

export type ReadItem = Omit<NewItem, 'request_id'>;

/**
 * The requests of a batch, parsed slice by slice: a body of 256 MB neither fills the memory with its
 * objects nor keeps anybody else waiting. Throws WeirError naming the parameter.
 */
export async function* readItems(
  bytes: Uint8Array,
  isFilesBeta: boolean,
): AsyncGenerator<ReadItem[]> {
  const reader = new ItemReader(isFilesBeta);
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) {
    const items = reader.read(bytes.subarray(at, at + SLICE_BYTES));
    if (items.length > 0) yield items;
    await new Promise((resolve) => setImmediate(resolve));
  }
  reader.end();
}

class ItemReader {
  private readonly parser = new JSONParser({ paths: ['$.requests.*'], keepStack: false });
  private readonly seen = new Map<string, number>();
  private found: ReadItem[] = [];
  private count = 0;
  private depth = 0;
  private before: TokenType | undefined;
  private isList = false;

  constructor(private readonly isFilesBeta: boolean) {
    this.parser.onToken = ({ token, value }) => {
      this.checkOutside(token, value);
      this.watchDepth(token);
      this.before = token;
    };
    this.parser.onValue = ({ value }) => this.take(value);
  }

  read(slice: Uint8Array): ReadItem[] {
    this.parse(() => this.parser.write(slice));
    const { found } = this;
    this.found = [];
    return found;
  }

  end(): void {
    this.parse(() => {
      if (!this.parser.isEnded) this.parser.end();
    });
    if (!this.isList) throw wrong('requests', 'Field required');
    if (this.count === 0) throw wrong('requests', 'List should have at least 1 item');
  }

  private parse(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof WeirError) throw error;
      throw new WeirError('invalid_json', 'The body is not valid JSON.', { param: 'body' }, error);
    }
  }

  private watchDepth(token: TokenType): void {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) {
      this.depth += 1;
      if (this.depth <= MAX_JSON_DEPTH) return;
      throw new WeirError('invalid_json', 'The body is nested too deeply.', { param: 'body' });
    }
    if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.depth -= 1;
  }

  /** What is around the list: an object with nothing but `requests`. */
  private checkOutside(token: TokenType, value: unknown): void {
    const { before, depth } = this;
    if (depth === 0 && token !== TokenType.LEFT_BRACE) throw wrong('body', 'must be an object');
    if (depth !== 1) return;
    if (before === TokenType.COLON) {
      if (token !== TokenType.LEFT_BRACKET) throw wrong('requests', 'Input should be a valid list');
      this.isList = true;
    } else if (token === TokenType.STRING && value !== 'requests') {
      throw wrong(String(value).slice(0, MAX_QUOTED_CHARS), 'Extra inputs are not permitted');
    }
  }

  private take(value: unknown): void {
    const at = `requests.${this.count}`;
    if (this.count >= MAX_ITEMS) {
      const message = `requests: List should have at most ${MAX_ITEMS} items.`;
      throw new WeirError('payload_too_large', message, { param: 'requests' });
    }
    if (!isObject(value)) throw wrong(at, 'Input should be an object');
    const { custom_id, params } = value;
    const id = this.checkedId(custom_id, `${at}.custom_id`);
    if (!isObject(params)) throw wrong(`${at}.params`, 'Input should be an object');
    const text = JSON.stringify(params);
    if (!this.isFilesBeta && namesFile(params)) throw withoutFilesBeta(`${at}.params`);
    this.found.push({ position: this.count, custom_id: id, params: text });
    this.count += 1;
  }

  private checkedId(id: unknown, param: string): string {
    if (typeof id !== 'string') throw wrong(param, 'Input should be a valid string');
    if (id.length < 1) throw wrong(param, 'String should have at least 1 character');
    if (id.length > MAX_CUSTOM_ID_CHARS) {
      throw wrong(param, `String should have at most ${MAX_CUSTOM_ID_CHARS} characters`);
    }
    if (!CUSTOM_ID.test(id))
      throw wrong(param, 'String should match pattern ^[a-zA-Z0-9_-]{1,64}$');
    const before = this.seen.get(id);
    if (before !== undefined) throw wrong(param, `is the same as requests.${before}.custom_id`);
    this.seen.set(id, this.count);
    return id;
  }
}

/** True if a block of a request takes its content from a file (Anthropic docs: Files). */
function namesFile(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(namesFile);
  if (!isObject(value)) return false;
  if (typeof value['file_id'] === 'string') return true;
  return Object.values(value).some(namesFile);
}

function withoutFilesBeta(param: string): WeirError {
  const message = `${param}: a file_id needs the header anthropic-beta with the files API's value.`;
  return new WeirError('invalid_request', message, {
    param: 'anthropic-beta',
    hint: 'Send the header anthropic-beta: files-api-2025-04-14.',
  });
}

/** In the vendor's own words (Anthropic docs: Batch processing). */
function wrong(param: string, message: string): WeirError {
  return new WeirError('invalid_request', `${param}: ${message}`, { param });
}
