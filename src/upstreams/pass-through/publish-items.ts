import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import type { UpstreamCall } from '../contract.ts';

type Json = Readonly<Record<string, unknown>>;

/** What replaces the id of one item: all texts of its members `id` and `item_id`. */
interface PublicId {
  readonly id: string;
  readonly members: RegExp;
}

/**
 * Replaces the upstream's ids of the output items of one response (OpenAI docs: Responses) by Weir's
 * own ids (P5). An item keeps its public id in all events and in the stored response. Also writes
 * the members that Weir sets itself for the upstream: `store` and `previous_response_id`.
 */
export class ItemPublisher {
  private readonly ids = new Map<string, PublicId>();

  constructor(private readonly call: UpstreamCall) {}

  /** Returns the public text of an event. `value` is the parsed `text`. */
  event(text: string, value: Json): string {
    const { item_id, item } = value;
    if (typeof item_id === 'string') return this.replace(text, item_id);
    return isObject(item) && typeof item['id'] === 'string' ? this.replace(text, item['id']) : text;
  }

  /** Returns the public text of a response object. `response` is the parsed `text`. */
  response(text: string, response: Json): string {
    const { output } = response;
    let shown = text;
    for (const item of Array.isArray(output) ? output : []) {
      if (isObject(item) && typeof item['id'] === 'string') shown = this.replace(shown, item['id']);
    }
    const { body } = this.call;
    const previous = body['previous_response_id'] ?? null;
    return editMembers(shown, {
      // The upstream stores nothing. Weir stores the response unless the client forbids it.
      ...('store' in response ? { store: String(body['store'] !== false) } : {}),
      ...(previous !== null || 'previous_response_id' in response
        ? { previous_response_id: JSON.stringify(previous) }
        : {}),
    });
  }

  /** Returns an output item with its public id. */
  item(item: unknown): unknown {
    if (!isObject(item) || typeof item['id'] !== 'string') return item;
    return { ...item, id: this.publicOf(item['id']).id };
  }

  private replace(text: string, upstream_id: string): string {
    const { id, members } = this.publicOf(upstream_id);
    return text.replace(members, (_, key: string) => `${key}"${id}"`);
  }

  /**
   * Returns the public id: the type prefix of the upstream's id, the response's id without its own
   * prefix, and the item's number.
   */
  private publicOf(upstream_id: string): PublicId {
    const known = this.ids.get(upstream_id);
    if (known) return known;
    const prefix = /^[a-z]{1,12}(?=_)/.exec(upstream_id)?.[0] ?? 'item';
    const { answer_id } = this.call;
    const id = `${prefix}_${answer_id.slice(answer_id.indexOf('_') + 1)}${this.ids.size}`;
    // Quotes inside a JSON string are escaped, so the pattern cannot match inside a string.
    const value = RegExp.escape(JSON.stringify(upstream_id));
    const made = { id, members: new RegExp(`("(?:item_)?id"\\s*:\\s*)${value}`, 'g') };
    this.ids.set(upstream_id, made);
    return made;
  }
}
