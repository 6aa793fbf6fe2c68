/**
 * After an upstream refused a translated request, finds the client's parameter that caused a part
 * of this request. To do so, the client's request is translated once more, with a mark in place of
 * each text. A mark in the translated request then shows which text of the client it comes from. So
 * the translation itself does not have to record paths.
 */
import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import { isPosition, type Path, writePath } from './paths.ts';
import type { ReadonlyJsonObject } from './reading.ts';
import { settingOf } from './settings.ts';

/** Members with free text. The translation passes this text on without reading it. */
const TEXTS = new Set(
  (
    'text content input instructions system name description id call_id tool_call_id ' +
    'tool_use_id url image_url data file_data filename title refusal thinking signature ' +
    'encrypted_content user user_id output stop stop_sequences stopSequences'
  ).split(' '),
);
/** Members with any JSON, e.g. schemas. The translation passes on the value as it is. */
const OPAQUES = new Set(
  (
    'parameters input_schema schema parametersJsonSchema parameters_json_schema responseSchema ' +
    'response_schema responseJsonSchema response_json_schema input args response'
  ).split(' '),
);
/** Members whose text is a name that the client chose. */
const NAMES = new Set(['name', 'id', 'call_id', 'tool_call_id', 'tool_use_id']);

const MARK = /⟦(\d+)⟧/g;
const DATA_URL_HEAD = /^data:[^,]{0,200},/;
/** The most names of a client that are kept, so that an error stays cheap. */
const MAX_OWN_NAMES = 1_000;

/** Translates a body from the client's protocol to the upstream's protocol. */
type Translate = (body: ReadonlyJsonObject) => ReadonlyJsonObject;

/** The origins of the parts of one translated request. */
export class Origins {
  /** Names that the client chose: of tools and of the properties in its schemas. */
  readonly ownNames = new Set<string>();
  /** The path of each marked value in the client's body. */
  private readonly marked: Path[] = [];
  private readonly written: unknown;

  constructor(
    private readonly body: ReadonlyJsonObject,
    private readonly client: ClientProtocol,
    private readonly upstream: ClientProtocol,
    translate: Translate,
  ) {
    const marked = this.mark(body, [], '');
    try {
      this.written = translate(marked as ReadonlyJsonObject);
    } catch {
      // If the marked body cannot be translated, `find` uses only the table of `settings.ts`.
    }
  }

  /** Returns the client's name for a path in the translated request; undefined if it has none. */
  find(path: Path): string | undefined {
    const names = path.map(toCamelCase);
    const known = this.upstream === 'gemini' ? names : path;
    const exact = this.setting(known.join('.'));
    if (exact !== undefined) return exact;
    const found = this.walk(path);
    if (found) return writePath(found, this.client);
    const plain = known.findIndex(isPosition);
    for (let end = plain < 0 ? known.length : plain; end > 0; end -= 1) {
      const setting = this.setting(known.slice(0, end).join('.'));
      if (setting !== undefined) return setting;
    }
    return undefined;
  }

  private setting(path: string): string | undefined {
    return settingOf(path, this.upstream, this.client, (name) => {
      const value = name.split('.').reduce<unknown>(memberOf, this.body);
      return value !== undefined && value !== null;
    });
  }

  /** Follows a path in the translated request, and returns the client's path to the same value. */
  private walk(path: Path): Path | undefined {
    let value = this.written;
    for (let at = 0; at < path.length; at += 1) {
      const opaque = this.opaqueAt(value);
      if (opaque) return [...opaque, ...this.knownSteps(path.slice(at))];
      const step = path[at] ?? '';
      const next = memberOf(value, step);
      if (next !== undefined) value = next;
      // Anthropic names the type of a block or tool between the steps: `tools.0.custom.name`.
      else if (memberOf(value, path[at + 1] ?? '') === undefined) {
        // An unknown member of a group of settings has no origin.
        if (at < 2 && isObject(value)) return undefined;
        break;
      }
    }
    return this.opaqueAt(value) ?? commonStart(this.marksIn(value));
  }

  /**
   * Returns the steps of a path inside a schema, up to the first name that the client did not use.
   */
  private knownSteps(steps: Path): Path {
    const end = steps.findIndex((step) => !isPosition(step) && !this.ownNames.has(step));
    return end < 0 ? steps : steps.slice(0, end);
  }

  private opaqueAt(value: unknown): Path | undefined {
    if (!isObject(value)) return undefined;
    const [key, ...others] = Object.keys(value);
    if (key === undefined || others.length > 0) return undefined;
    return key.startsWith('⟦') ? this.marksInText(key)[0] : undefined;
  }

  private marksIn(value: unknown): Path[] {
    if (typeof value === 'string') return this.marksInText(value);
    if (Array.isArray(value)) return value.flatMap((each) => this.marksIn(each));
    if (!isObject(value)) return [];
    return Object.entries(value).flatMap(([key, each]) => [
      ...this.marksInText(key),
      ...this.marksIn(each),
    ]);
  }

  private marksInText(text: string): Path[] {
    return [...text.matchAll(MARK)].flatMap(([, at]) => {
      const path = this.marked[Number(at)];
      return path ? [path] : [];
    });
  }

  /** Returns a copy with marks. `member` is the name of the member that holds the value. */
  private mark(value: unknown, path: Path, member: string): unknown {
    if (typeof value === 'string') return this.markText(value, path, member);
    if (Array.isArray(value)) {
      return value.map((each, at) =>
        this.mark(each, [...path, String(at)], typeof each === 'string' ? member : ''),
      );
    }
    if (!isObject(value)) return value;
    if (OPAQUES.has(member)) {
      this.keepNames(value);
      return { [this.newMark(path)]: true };
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.mark(each, [...path, key], key)]),
    );
  }

  private markText(text: string, path: Path, member: string): string {
    if (NAMES.has(member)) this.keepName(text);
    if (text.trim() === '') return text;
    if (member === 'arguments') return `{"${this.newMark(path)}":true}`;
    if (!TEXTS.has(member)) return text;
    const [head = ''] = DATA_URL_HEAD.exec(text.slice(0, 300)) ?? [];
    return head + this.newMark(path);
  }

  private newMark(path: Path): string {
    this.marked.push(path);
    return `⟦${this.marked.length - 1}⟧`;
  }

  private keepName(name: string): void {
    if (this.ownNames.size < MAX_OWN_NAMES && name !== '') this.ownNames.add(name);
  }

  /** Keeps the names of all members, e.g. of the properties of a schema. */
  private keepNames(value: unknown): void {
    if (this.ownNames.size >= MAX_OWN_NAMES) return;
    if (Array.isArray(value)) for (const each of value) this.keepNames(each);
    if (!isObject(value)) return;
    for (const [key, each] of Object.entries(value)) {
      this.keepName(key);
      this.keepNames(each);
    }
  }
}

/**
 * Returns a member of an object, or an entry of a list. Gemini's errors name a member in snake
 * case, or without the ending `JsonSchema`; such names find the member too.
 */
function memberOf(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return isPosition(step) ? value[Number(step)] : undefined;
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, step)) return value[step];
  const other = [toCamelCase(step), `${step}JsonSchema`].find((name) => Object.hasOwn(value, name));
  return other === undefined ? undefined : value[other];
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the longest common start of the paths; undefined if they have none. */
function commonStart(paths: readonly Path[]): Path | undefined {
  const [first, ...others] = paths;
  if (!first) return undefined;
  let length = first.length;
  for (const path of others) {
    let same = 0;
    while (same < length && path[same] === first[same]) same += 1;
    length = same;
  }
  return length > 0 ? first.slice(0, length) : undefined;
}
