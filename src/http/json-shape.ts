import { WeirError } from '../errors/weir-error.ts';
import { skipString } from '../json/strings.ts';

/** The most levels of nested JSON. Deeper JSON could exhaust the stack of a recursive parser. */
const MAX_JSON_DEPTH = 128;
/**
 * The most members of one object. Millions of different names in one object would keep the parser
 * busy for seconds, and it serves no other client meanwhile.
 */
const MAX_JSON_MEMBERS = 10_000;
/** The most commas in a body. Each separates two members or two items of a list. */
const MAX_JSON_COMMAS = 1_000_000;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPENING_BRACKET = 91;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;

/**
 * The shape of a JSON body, counted while it is read. Each method throws WeirError `invalid_json` if
 * the body exceeds a limit.
 */
export class JsonShape {
  /** The number of open objects and lists. */
  depth = 0;
  private commas = 0;
  /** For each depth, how many members its open object has so far. */
  private readonly members = new Uint32Array(MAX_JSON_DEPTH + 1);

  open(): void {
    this.depth += 1;
    if (this.depth > MAX_JSON_DEPTH) throw invalid('The body is nested too deeply.');
    this.members[this.depth] = 0;
  }

  close(): void {
    this.depth -= 1;
  }

  /** Counts a member of the innermost open object. */
  addMember(): void {
    const count = (this.members[this.depth] ?? 0) + 1;
    if (count > MAX_JSON_MEMBERS) throw tooMany(MAX_JSON_MEMBERS, 'members in one object');
    this.members[this.depth] = count;
  }

  addComma(): void {
    this.commas += 1;
    if (this.commas > MAX_JSON_COMMAS) throw tooMany(MAX_JSON_COMMAS, 'values');
  }
}

/** Throws WeirError `invalid_json` if a JSON text exceeds a limit, before a parser reads the text. */
export function checkJsonShape(text: string): void {
  if (isWithinLimits(text)) return;
  const shape = new JsonShape();
  for (let position = 0; position < text.length; position += 1) {
    switch (text.charCodeAt(position)) {
      case QUOTE:
        position = skipString(text, position) - 1;
        break;
      case COLON:
        shape.addMember();
        break;
      case COMMA:
        shape.addComma();
        break;
      case OPENING_BRACE:
      case OPENING_BRACKET:
        shape.open();
        break;
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        shape.close();
    }
  }
}

const OPENINGS = ['{', '['];

/**
 * True if a text is too short to have too many members, and has too few opening characters to be
 * nested too deeply. Nearly all bodies are so small. This search is many times faster than the loop.
 */
function isWithinLimits(text: string): boolean {
  if (text.length > MAX_JSON_MEMBERS) return false;
  let left = MAX_JSON_DEPTH;
  for (const opening of OPENINGS) {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      left -= 1;
      if (left < 0) return false;
    }
  }
  return true;
}

function tooMany(most: number, what: string): WeirError {
  return invalid(`The body has more than ${most.toLocaleString('en-US')} ${what}.`);
}

function invalid(message: string): WeirError {
  return new WeirError('invalid_json', message, { param: 'body' });
}
