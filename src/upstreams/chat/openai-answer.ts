import { isObject } from '../../json/object.ts';

const TEXTS = ['content', 'refusal', 'reasoning_content', 'reasoning'];

/** All charged text: content, refusal, reasoning, tool calls. */
export function producedBy(choices: readonly unknown[], part: 'message' | 'delta'): string {
  let produced = '';
  for (const choice of choices) {
    const said = isObject(choice) ? choice[part] : undefined;
    if (!isObject(said)) continue;
    for (const key of TEXTS) {
      const text = said[key];
      if (typeof text === 'string') produced += text;
    }
    if (said['function_call']) produced += callText(said['function_call']);
    if (!Array.isArray(said['tool_calls'])) continue;
    for (const tool of said['tool_calls']) {
      if (isObject(tool)) produced += callText(tool['function'] ?? tool['custom']);
    }
  }
  return produced;
}

function callText(called: unknown): string {
  if (!isObject(called)) return '';
  return `${called['name'] ?? ''}${called['arguments'] ?? called['input'] ?? ''}`;
}
