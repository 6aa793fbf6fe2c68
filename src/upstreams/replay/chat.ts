import { isObject } from '../../json/object.ts';
import { type AnswerObject, type AnswerReplay, objectsIn, plainEvent, without } from './replay.ts';

/** Members of a message or delta that name or number something. All other texts grow. */
const NAMES = ['role', 'id', 'type', 'index', 'name'];
const DONE = 'data: [DONE]\n\n';

/** Chat completions (OpenAI docs: Chat Completions, Streaming). */
export const chatReplay: AnswerReplay = {
  id: 'id',

  assemble(chunks) {
    const choices = new Map<unknown, Choice>();
    let members: Record<string, unknown> = {};
    for (const chunk of chunks) {
      for (const each of objectsIn(chunk['choices'])) grow(choices, each);
      const kept = Object.entries(without(chunk, 'choices', 'object'));
      members = { ...members, ...Object.fromEntries(kept.filter(([, value]) => value !== null)) };
    }
    if (choices.size === 0) return undefined;
    const { usage, ...rest } = members;
    return {
      ...rest,
      object: 'chat.completion',
      choices: [...choices.values()].map(({ message, ...choice }) => ({
        ...choice,
        message: { content: null, refusal: null, ...message },
      })),
      ...(usage === undefined ? {} : { usage }),
    };
  },

  ids: (answer) =>
    objectsIn(answer['choices']).flatMap(({ message }) =>
      isObject(message) ? objectsIn(message['tool_calls']).map(({ id }) => id) : [],
    ),

  form: (request) => (wantsUsage(request) ? 'usage' : ''),

  stream(answer, request) {
    const withUsage = wantsUsage(request);
    const { usage, ...members } = without(answer, 'choices', 'object');
    const chunk = (choices: object[], used: unknown = null) =>
      plainEvent({
        ...members,
        object: 'chat.completion.chunk',
        choices,
        ...(withUsage ? { usage: used } : {}),
      });
    const choices = objectsIn(answer['choices']);
    const texts = choices.flatMap((choice) => chunksOf(choice).map((each) => chunk([each])));
    return texts.join('') + (withUsage && usage ? chunk([], usage) : '') + DONE;
  },
};

function wantsUsage({ stream_options: options }: AnswerObject): boolean {
  return isObject(options) && options['include_usage'] === true;
}

interface Choice extends Record<string, unknown> {
  message: Record<string, unknown>;
}

/** Adds a choice of a chunk to the choice with the same number. */
function grow(choices: Map<unknown, Choice>, added: AnswerObject): void {
  const index = added['index'] ?? 0;
  const choice = choices.get(index) ?? { index, message: {}, logprobs: null, finish_reason: null };
  const { delta, logprobs, ...rest } = added;
  for (const [name, value] of Object.entries(rest)) if (value !== null) choice[name] = value;
  if (isObject(delta)) choice.message = grown(choice.message, delta);
  if (isObject(logprobs)) {
    choice['logprobs'] = grown(isObject(choice['logprobs']) ? choice['logprobs'] : {}, logprobs);
  }
  choices.set(index, choice);
}

/** Returns an object with the members of a delta: texts and lists grow, all other values replace. */
function grown(object: AnswerObject, delta: AnswerObject): Record<string, unknown> {
  const result: Record<string, unknown> = { ...object };
  for (const [name, value] of Object.entries(delta)) {
    const before = result[name];
    if (value === null && before !== undefined) continue;
    if (name === 'tool_calls') result[name] = grownCalls(objectsIn(before), objectsIn(value));
    else if (typeof before === 'string' && typeof value === 'string' && !NAMES.includes(name)) {
      result[name] = before + value;
    } else if (Array.isArray(before) || Array.isArray(value)) {
      result[name] = [...partsOf(before), ...partsOf(value)];
    } else if (isObject(before) && isObject(value)) result[name] = grown(before, value);
    else result[name] = value;
  }
  return result;
}

/** Some vendors send content as text first, and as a list of parts later. */
function partsOf(content: unknown): unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

function grownCalls(
  calls: readonly AnswerObject[],
  added: readonly AnswerObject[],
): AnswerObject[] {
  const result = [...calls];
  for (const each of added) {
    const index = Number(each['index'] ?? 0);
    const call = without(each, 'index');
    result[index] = result[index] ? grown(result[index], call) : call;
  }
  return result.filter(isObject);
}

/** Returns the choices of the chunks of one choice: its start, each of its members, its end. */
function chunksOf(choice: AnswerObject): object[] {
  const { index = 0, message, logprobs = null, finish_reason } = choice;
  const { role = 'assistant', content, tool_calls, ...rest } = isObject(message) ? message : {};
  const piece = (delta: object, members: object = { logprobs: null, finish_reason: null }) => ({
    ...{ index, delta },
    ...members,
  });
  const others = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  const isNull = content === null || content === undefined;
  return [
    piece({ role, content: isNull ? null : '' }),
    ...others.map(([name, value]) => piece({ [name]: value })),
    ...(!isNull && content !== '' ? [piece({ content }, { logprobs, finish_reason: null })] : []),
    ...((isNull || content === '') && logprobs
      ? [piece({}, { logprobs, finish_reason: null })]
      : []),
    ...objectsIn(tool_calls).map((call, at) => piece({ tool_calls: [{ index: at, ...call }] })),
    piece({}, { logprobs: null, finish_reason }),
  ];
}
