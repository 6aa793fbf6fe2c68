import { parseExact } from '../../json/exact-integers.ts';
import { isObject } from '../../json/object.ts';
import { type AnswerObject, type AnswerReplay, namedEvent, objectsIn, without } from './replay.ts';

/** Messages (Anthropic docs: Messages, Streaming). */
export const messagesReplay: AnswerReplay = {
  id: 'id',

  assemble(events) {
    let message: Record<string, unknown> | undefined;
    const blocks: Block[] = [];
    for (const event of events) {
      const { type, index, delta, usage } = event;
      const block = blocks[Number(index)];
      if (type === 'message_start' && isObject(event['message'])) message = { ...event['message'] };
      else if (type === 'content_block_start' && isObject(event['content_block'])) {
        blocks.push({ ...event['content_block'] });
      } else if (type === 'content_block_delta' && isObject(delta) && block) grow(block, delta);
      else if (type === 'message_delta' && message) {
        const more = isObject(usage) ? usage : {};
        const used = isObject(message['usage']) ? { ...message['usage'], ...more } : more;
        message = { ...message, ...(isObject(delta) ? delta : {}), usage: used };
      }
    }
    return message && { ...message, content: blocks.map(finished) };
  },

  ids: ({ content }) => objectsIn(content).map(({ id }) => id),

  stream(answer) {
    const { content, stop_reason, stop_sequence, stop_details, container, usage, ...members } =
      answer;
    const ends = { stop_reason, stop_sequence: stop_sequence ?? null };
    const extra = Object.fromEntries(
      Object.entries({ container, stop_details }).filter(([, value]) => value !== undefined),
    );
    const blank = Object.fromEntries(Object.keys(extra).map((name) => [name, null]));
    const began = isObject(usage) ? { ...usage, output_tokens: 0 } : usage;
    const message = {
      ...members,
      ...{ content: [], stop_reason: null, stop_sequence: null, ...blank, usage: began },
    };
    return (
      namedEvent('message_start', { message }) +
      objectsIn(content).map(blockEvents).join('') +
      namedEvent('message_delta', { delta: { ...ends, ...extra }, usage }) +
      namedEvent('message_stop', {})
    );
  },
};

/** A block, and the JSON text of its input while it grows. */
interface Block extends Record<string, unknown> {
  input_json?: string;
}

function grow(block: Block, delta: AnswerObject): void {
  for (const name of ['text', 'thinking', 'signature']) {
    const added = delta[name];
    if (typeof added === 'string') block[name] = `${block[name] ?? ''}${added}`;
  }
  const { partial_json, citation } = delta;
  if (typeof partial_json === 'string') block.input_json = (block.input_json ?? '') + partial_json;
  if (citation) block['citations'] = [...objectsIn(block['citations']), citation];
}

function finished({ input_json, ...block }: Block): Record<string, unknown> {
  return input_json ? { ...block, input: parseExact(input_json) } : block;
}

/** Returns the events of a block at its number. */
function blockEvents(block: AnswerObject, index: number): string {
  const { type, text, thinking, signature, citations, input } = block;
  const delta = (change: object) => namedEvent('content_block_delta', { index, delta: change });
  const event = (content_block: object, deltas = '') =>
    namedEvent('content_block_start', { index, content_block }) +
    deltas +
    namedEvent('content_block_stop', { index });
  switch (type) {
    case 'text': {
      const cited = objectsIn(citations)
        .map((citation) => delta({ type: 'citations_delta', citation }))
        .join('');
      const start = { ...block, text: '', ...(citations ? { citations: [] } : {}) };
      return event(start, cited + (text ? delta({ type: 'text_delta', text }) : ''));
    }
    case 'thinking':
      return event(
        { ...without(block, 'signature'), thinking: '', signature: '' },
        (thinking ? delta({ type: 'thinking_delta', thinking }) : '') +
          (signature ? delta({ type: 'signature_delta', signature }) : ''),
      );
    case 'tool_use':
      return event(
        { ...block, input: {} },
        delta({ type: 'input_json_delta', partial_json: JSON.stringify(input ?? {}) }),
      );
    default:
      return event(block);
  }
}
