import { JSONParser, TokenType } from '@streamparser/json';
import type { NewItem } from '../../../../db/batches/items.ts';
import { WeirError } from '../../../errors/weir-error.ts';
import { parseExact } from '../../../json/exact-integers.ts';
import { isObject } from '../../../json/object.ts';
import { JsonShape } from '../../json-shape.ts';

/** The provider's limits for a batch (Anthropic docs: Batch processing). */
export const MAX_ITEMS = 100_000;
const MAX_CUSTOM_ID_CHARS = 64;
const CUSTOM_ID = /^[a-zA-Z0-9_-]+$/;
/** The size of a slice. Between two slices Weir can serve other calls. */
const SLICE_BYTES = 16 * 1024;
const MAX_QUOTED_CHARS = 100;

/** A validated request of a batch. */
export type ReadItem = Omit<NewItem, 'request_id'>;

/**
 * Parses the body of a batch slice by slice, and yields the validated requests of each slice. So
 * the objects of a body of 256 MB are not all in memory, and Weir can serve other calls between two
 * slices. `isFilesBeta` is true if the client's headers enable the files API. Throws WeirError that
 * names the wrong parameter.
 */
export async function* readItems(
  bytes: Uint8Array,
  isFilesBeta: boolean,
): AsyncGenerator<ReadItem[]> {
  const reader = new ItemReader(isFilesBeta);
  for (let start = 0; start < bytes.byteLength; start += SLICE_BYTES) {
    const items = reader.read(bytes.subarray(start, start + SLICE_BYTES));
    if (items.length > 0) yield items;
    await new Promise((resolve) => setImmediate(resolve));
  }
  reader.end();
}

/**
 * Lets a parser keep the digits of big integers. The package has this function, but its types do not
 * (@streamparser/json: Tokenizer.parseNumber).
 */
function keepDigits(parser: JSONParser): void {
  const { tokenizer } = parser as unknown as { tokenizer: { parseNumber(text: string): unknown } };
  tokenizer.parseNumber = parseExact;
}

class ItemReader {
  private readonly parser = new JSONParser({ paths: ['$.requests.*'], keepStack: false });
  private readonly positions = new Map<string, number>();
  private items: ReadItem[] = [];
  private count = 0;
  private readonly shape = new JsonShape();
  private previousToken: TokenType | undefined;
  private hasList = false;

  constructor(private readonly isFilesBeta: boolean) {
    this.parser.onToken = ({ token, value }) => {
      this.checkEnvelope(token, value);
      this.checkShape(token);
      this.previousToken = token;
    };
    this.parser.onValue = ({ value }) => this.addItem(value);
    keepDigits(this.parser);
  }

  read(slice: Uint8Array): ReadItem[] {
    this.parse(() => this.parser.write(slice));
    const { items: found } = this;
    this.items = [];
    return found;
  }

  end(): void {
    this.parse(() => {
      if (!this.parser.isEnded) this.parser.end();
    });
    if (!this.hasList) throw invalidMember('requests', 'Field required');
    if (this.count === 0) throw invalidMember('requests', 'List should have at least 1 item');
  }

  private parse(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (error instanceof WeirError) throw error;
      throw new WeirError('invalid_json', 'The body is not valid JSON.', { param: 'body' }, error);
    }
  }

  private checkShape(token: TokenType): void {
    if (token === TokenType.COLON) this.shape.addMember();
    else if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) this.shape.open();
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET)
      this.shape.close();
  }

  /** Throws WeirError if the body is not an object whose only member is `requests`. */
  private checkEnvelope(token: TokenType, value: unknown): void {
    const before = this.previousToken;
    const { depth } = this.shape;
    if (depth === 0 && token !== TokenType.LEFT_BRACE)
      throw invalidMember('body', 'must be an object');
    if (depth !== 1) return;
    if (before === TokenType.COLON) {
      if (token !== TokenType.LEFT_BRACKET)
        throw invalidMember('requests', 'Input should be a valid list');
      this.hasList = true;
    } else if (token === TokenType.STRING && value !== 'requests') {
      throw invalidMember(
        String(value).slice(0, MAX_QUOTED_CHARS),
        'Extra inputs are not permitted',
      );
    }
  }

  private addItem(value: unknown): void {
    const path = `requests.${this.count}`;
    if (this.count >= MAX_ITEMS) {
      const message = `requests: List should have at most ${MAX_ITEMS} items.`;
      throw new WeirError('payload_too_large', message, { param: 'requests' });
    }
    if (!isObject(value)) throw invalidMember(path, 'Input should be an object');
    const { custom_id, params } = value;
    const id = this.checkedId(custom_id, `${path}.custom_id`);
    if (!isObject(params)) throw invalidMember(`${path}.params`, 'Input should be an object');
    const text = JSON.stringify(params);
    if (!this.isFilesBeta && refersToFile(params)) throw filesBetaRequired(`${path}.params`);
    this.items.push({ position: this.count, custom_id: id, params: text });
    this.count += 1;
  }

  private checkedId(id: unknown, param: string): string {
    if (typeof id !== 'string') throw invalidMember(param, 'Input should be a valid string');
    if (id.length < 1) throw invalidMember(param, 'String should have at least 1 character');
    if (id.length > MAX_CUSTOM_ID_CHARS) {
      throw invalidMember(param, `String should have at most ${MAX_CUSTOM_ID_CHARS} characters`);
    }
    if (!CUSTOM_ID.test(id))
      throw invalidMember(param, 'String should match pattern ^[a-zA-Z0-9_-]{1,64}$');
    const earlier = this.positions.get(id);
    if (earlier !== undefined) {
      throw invalidMember(param, `is the same as requests.${earlier}.custom_id`);
    }
    this.positions.set(id, this.count);
    return id;
  }
}

/** True if a block of a request takes its content from a file (Anthropic docs: Files). */
function refersToFile(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(refersToFile);
  if (!isObject(value)) return false;
  if (typeof value['file_id'] === 'string') return true;
  return Object.values(value).some(refersToFile);
}

function filesBetaRequired(param: string): WeirError {
  const message = `${param}: a file_id needs the header anthropic-beta with the files API's value.`;
  return new WeirError('invalid_request', message, {
    param: 'anthropic-beta',
    hint: 'Send the header anthropic-beta: files-api-2025-04-14.',
  });
}

/**
 * Returns the error for an invalid member of a batch's body. Callers give `message` in Anthropic's
 * wording (Anthropic docs: Batch processing).
 */
function invalidMember(param: string, message: string): WeirError {
  return new WeirError('invalid_request', `${param}: ${message}`, { param });
}
