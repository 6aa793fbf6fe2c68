import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import { freshName, renamed } from './fresh-names.ts';
import { REPLAYS } from './protocols.ts';
import { type AnswerObject, eventsIn, objectsIn } from './replay.ts';

/** Whose events they are, and for whom they are written again. */
export interface FollowedStream {
  readonly protocol: ClientProtocol;
  /** The 32 digits in the ids of the first answer and of all its items. */
  readonly from_digits: string;
  readonly to_digits: string;
  /** The body of the call that gets the events. */
  readonly body: AnswerObject;
}

/** Rewrites the events of one stream for another client, with ids of its own, while they arrive. */
export class EventFollower {
  private readonly names = new Map<string, string>();

  constructor(private readonly stream: FollowedStream) {}

  /** Returns the text of whole events for the other client. */
  rewrite(text: string): string {
    const { protocol, from_digits, to_digits } = this.stream;
    for (const event of eventsIn(text)) {
      for (const id of namesIn(protocol, event)) {
        if (typeof id !== 'string' || id.includes(from_digits) || this.names.has(id)) continue;
        this.names.set(id, freshName(id));
      }
    }
    const own = text.replaceAll(from_digits, to_digits);
    const shown = this.names.size > 0 ? renamed(own, this.names) : own;
    return protocol === 'responses' ? this.withEcho(shown) : shown;
  }

  /** Writes the members that a response copies from its request. */
  private withEcho(text: string): string {
    return text.replaceAll(/^data: (\{.*"response":.*)$/gm, (line, json: string) => {
      const { response } = JSON.parse(json);
      if (!isObject(response)) return line;
      const echo = REPLAYS.responses.echo?.(response, this.stream.body) ?? {};
      return `data: ${editMembers(json, { response: (inner) => editMembers(inner, echo) })}`;
    });
  }
}

/** Returns the ids of tool calls in an event. */
function namesIn(protocol: ClientProtocol, event: AnswerObject): unknown[] {
  switch (protocol) {
    case 'openai':
      return objectsIn(event['choices']).flatMap(({ delta }) =>
        isObject(delta) ? objectsIn(delta['tool_calls']).map(({ id }) => id) : [],
      );
    case 'anthropic': {
      const block = event['content_block'];
      return isObject(block) ? [block['id']] : [];
    }
    case 'responses': {
      const { item, response } = event;
      return [
        ...(isObject(item) ? [item['call_id']] : []),
        ...(isObject(response) ? objectsIn(response['output']).map((each) => each['call_id']) : []),
      ];
    }
    case 'gemini':
      return REPLAYS.gemini.ids(event);
    default:
      return protocol satisfies never;
  }
}
