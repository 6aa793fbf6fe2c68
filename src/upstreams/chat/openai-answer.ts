import { isObject } from '../../json/object.ts';
import { contentParts } from '../translation/content-parts.ts';

const TEXT_MEMBERS = ['content', 'refusal', 'reasoning_content', 'reasoning'];

/**
 * Returns the charged text of all choices: content, refusal, reasoning and tool calls. `part` names
 * the member with the text: `message` in a whole answer, `delta` in a chunk of a stream.
 */
export function producedText(choices: readonly unknown[], part: 'message' | 'delta'): string {
  let produced = '';
  for (const choice of choices) {
    const message = isObject(choice) ? choice[part] : undefined;
    if (!isObject(message)) continue;
    for (const key of TEXT_MEMBERS) {
      const text = message[key];
      if (typeof text === 'string') produced += text;
      else if (Array.isArray(text))
        for (const { text: part } of contentParts(text)) produced += part;
    }
    if (message['function_call']) produced += callText(message['function_call']);
    if (!Array.isArray(message['tool_calls'])) continue;
    for (const tool of message['tool_calls']) {
      if (isObject(tool)) produced += callText(tool['function'] ?? tool['custom']);
    }
  }
  return produced;
}

function callText(called: unknown): string {
  if (!isObject(called)) return '';
  return `${called['name'] ?? ''}${called['arguments'] ?? called['input'] ?? ''}`;
}
