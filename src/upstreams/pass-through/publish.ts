import { type Edit, editMembers, findEndOfMembers } from '../../json/members.ts';
import { pricesIn } from '../../protocols/reported-price.ts';
import type { UpstreamCall } from '../contract.ts';

/**
 * Members that resellers add to answers. These members identify the provider, the account or the
 * request, so they are removed (P5). All other unknown members keep their bytes.
 */
const LEAKS = ['provider', 'request_id', 'x_groq', 'x_request_id'];

type Json = Readonly<Record<string, unknown>>;

/**
 * Returns the text of an answer with Weir's id and the public model name. `answer` is the parsed
 * `text`. The physical name is replaced in every member `model`, at any depth.
 */
export function publishAnswer(text: string, answer: Json, call: UpstreamCall): string {
  const edits: Record<string, Edit> = {};
  if (typeof answer['id'] === 'string') edits['id'] = JSON.stringify(call.answer_id);
  if (typeof answer['model'] === 'string') edits['model'] = JSON.stringify(call.public_model);
  for (const leak of LEAKS) if (leak in answer) edits[leak] = null;
  const prices = pricesIn(answer['usage']);
  if (prices) edits['usage'] = (usage) => withoutMembers(usage, prices);
  return hideModel(editMembers(text, edits), modelNames(answer['model'], call), call.public_model);
}

function withoutMembers(text: string, names: readonly string[]): string {
  return editMembers(text, Object.fromEntries(names.map((name) => [name, null])));
}

/**
 * Returns the JSON texts of the model names that must be hidden: the physical name and the name in
 * the answer. A name that is equal to the public name is left out.
 */
export function modelNames(
  answered: unknown,
  { physical_model, public_model }: UpstreamCall,
): string[] {
  const names: string[] = [];
  if (physical_model !== public_model) names.push(JSON.stringify(physical_model));
  const isAnother = answered !== physical_model && answered !== public_model;
  if (typeof answered === 'string' && answered !== '' && isAnother) {
    names.push(JSON.stringify(answered));
  }
  return names;
}

/**
 * Replaces the value of each member `model`, at any depth, by `public_model` if the value is one of
 * `names`. `names` are JSON texts.
 */
export function hideModel(text: string, names: readonly string[], public_model: string): string {
  let result = text;
  for (const name of names) {
    if (!result.includes(name)) continue;
    // This is safe on raw text. Quotes inside a JSON string are escaped, so the pattern cannot
    // match inside a string.
    const member = new RegExp(`("model"\\s*:\\s*)${RegExp.escape(name)}`, 'g');
    result = result.replace(member, (_, key: string) => key + JSON.stringify(public_model));
  }
  return result;
}

/**
 * Converts the chunks of one stream to their public form. Normally all chunks start with the same
 * members, up to `id` and `model`. This start is edited once and cached. Later chunks with the same
 * start need only a comparison.
 */
export class ChunkPublisher {
  private head = '';
  private publicHead = '';
  private id: unknown;
  private model: unknown;
  private names: string[] = [];

  constructor(private readonly call: UpstreamCall) {}

  /**
   * Returns the public text of a chunk. `chunk` is the parsed `text`. If `keepUsage` is false, the
   * member `usage` is removed.
   */
  publish(text: string, chunk: Json, keepUsage: boolean): string {
    const dropUsage = !keepUsage && 'usage' in chunk;
    const isKnown = this.knows(text, chunk) || this.learns(text, chunk);
    const hasPrices = keepUsage && pricesIn(chunk['usage']) !== undefined;
    if (!isKnown || hasPrices || LEAKS.some((leak) => leak in chunk)) {
      const all = publishAnswer(text, chunk, this.call);
      return dropUsage ? editMembers(all, { usage: null }) : all;
    }
    const rest = hideModel(text.slice(this.head.length), this.names, this.call.public_model);
    if (!dropUsage) return this.publicHead + rest;
    return rest.endsWith(NO_USAGE) && rest.indexOf('"usage"') === rest.length - USAGE_TO_END
      ? `${this.publicHead}${rest.slice(0, -NO_USAGE.length)}}`
      : editMembers(this.publicHead + rest, { usage: null });
  }

  private knows(text: string, chunk: Json): boolean {
    return (
      this.head !== '' &&
      chunk['id'] === this.id &&
      chunk['model'] === this.model &&
      text.startsWith(this.head)
    );
  }

  private learns(text: string, chunk: Json): boolean {
    const end = findEndOfMembers(text, ['id', 'model']);
    if (end < 0 || typeof chunk['id'] !== 'string' || typeof chunk['model'] !== 'string') {
      return false;
    }
    this.head = text.slice(0, end);
    // The start becomes a JSON object if a closing brace is added.
    this.publicHead = publishAnswer(`${this.head}}`, chunk, this.call).slice(0, -1);
    this.id = chunk['id'];
    this.model = chunk['model'];
    this.names = modelNames(this.model, this.call);
    return true;
  }
}

/** The end of a chunk in which the upstream reports no usage yet. */
const NO_USAGE = ',"usage":null}';
/** Characters from the key `"usage"` to the end of such a chunk. */
const USAGE_TO_END = NO_USAGE.length - 1;
