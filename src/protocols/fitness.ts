/**
 * Whether an answer is fit to be sent again to another call. It is, if the model ended it itself. An answer
 * that was cut off or refused is not. Nor is one with results of tools that the provider ran, e.g. of a
 * search: they are of their time.
 */
import { isObject } from '../json/object.ts';
import type { ClientProtocol } from './names.ts';

type Json = Readonly<Record<string, unknown>>;

/** Judges the answers of one protocol. */
interface Fitness {
  /** True if a whole answer is fit. */
  isFit(answer: Json): boolean;
  /**
   * Returns false for an event of a stream that makes its answer unfit, and true for an event with which
   * the model ends the answer itself. Returns undefined for all others.
   */
  judge(event: Json): boolean | undefined;
}

const objectsIn = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

const isOneOf = (values: readonly string[], value: unknown) =>
  values.some((each) => each === value);

const CHAT_ENDS = ['stop', 'tool_calls', 'function_call'];

/** True for a refusal, and for a text that cites results of a search. */
function isForeignMessage({ refusal, annotations }: Json): boolean {
  return Boolean(refusal) || objectsIn(annotations).length > 0;
}

/** Chat completions (OpenAI docs: Chat Completions, `finish_reason`). */
export const chatFitness: Fitness = {
  isFit(answer) {
    const choices = objectsIn(answer['choices']);
    return (
      choices.length > 0 &&
      choices.every(
        ({ finish_reason, message }) =>
          isOneOf(CHAT_ENDS, finish_reason) && isObject(message) && !isForeignMessage(message),
      )
    );
  },

  judge({ choices }) {
    let isEnd = false;
    for (const { delta, finish_reason } of objectsIn(choices)) {
      if (isObject(delta) && isForeignMessage(delta)) return false;
      if (finish_reason && !isOneOf(CHAT_ENDS, finish_reason)) return false;
      if (finish_reason) isEnd = true;
    }
    return isEnd || undefined;
  },
};

const MESSAGE_ENDS = ['end_turn', 'tool_use', 'stop_sequence'];
/** The blocks that a model makes itself. All others hold results of tools of the provider. */
const OWN_BLOCKS = ['text', 'thinking', 'redacted_thinking', 'tool_use'];

/** Messages (Anthropic docs: Messages, `stop_reason`). */
export const messagesFitness: Fitness = {
  isFit: ({ stop_reason, content }) =>
    isOneOf(MESSAGE_ENDS, stop_reason) &&
    objectsIn(content).every(({ type }) => isOneOf(OWN_BLOCKS, type)),

  judge({ type, content_block, delta }) {
    if (type === 'content_block_start' && isObject(content_block)) {
      return isOneOf(OWN_BLOCKS, content_block['type']) ? undefined : false;
    }
    if (type !== 'message_delta' || !isObject(delta) || !delta['stop_reason']) return undefined;
    return isOneOf(MESSAGE_ENDS, delta['stop_reason']);
  },
};

/** The items that a model makes itself. All others hold results of tools of the provider. */
const OWN_ITEMS = ['message', 'reasoning', 'function_call', 'custom_tool_call'];

/** Responses (OpenAI docs: Responses, `status`). */
export const responsesFitness: Fitness = {
  isFit: ({ status, output }) =>
    status === 'completed' &&
    objectsIn(output).every(
      ({ type, content }) =>
        isOneOf(OWN_ITEMS, type) &&
        objectsIn(content).every(
          (part) => part['type'] !== 'refusal' && objectsIn(part['annotations']).length === 0,
        ),
    ),

  judge({ type, response }) {
    if (type === 'response.incomplete') return false;
    if (type !== 'response.completed') return undefined;
    return isObject(response) && responsesFitness.isFit(response);
  },
};

/** The parts that a model makes itself. All others hold results of tools of the provider. */
const OWN_PARTS = ['text', 'thought', 'thoughtSignature', 'functionCall'];

/** True if a candidate, or a chunk of one, holds only what the model made itself. */
function isOwnCandidate({ groundingMetadata, content }: Json): boolean {
  if (isObject(groundingMetadata)) return false;
  const parts = isObject(content) ? objectsIn(content['parts']) : [];
  return parts.every((part) => Object.keys(part).every((name) => OWN_PARTS.includes(name)));
}

function isBlocked(promptFeedback: unknown): boolean {
  return isObject(promptFeedback) && promptFeedback['blockReason'] !== undefined;
}

/** Gemini's generateContent (Gemini API docs: GenerateContentResponse, `finishReason`). */
export const geminiFitness: Fitness = {
  isFit({ candidates, promptFeedback }) {
    const all = objectsIn(candidates);
    const isWhole = all.every(({ finishReason }) => finishReason === 'STOP');
    return !isBlocked(promptFeedback) && all.length > 0 && isWhole && all.every(isOwnCandidate);
  },

  judge({ candidates, promptFeedback }) {
    if (isBlocked(promptFeedback)) return false;
    let isEnd = false;
    for (const candidate of objectsIn(candidates)) {
      const { finishReason } = candidate;
      if (!isOwnCandidate(candidate) || (finishReason && finishReason !== 'STOP')) return false;
      if (finishReason) isEnd = true;
    }
    return isEnd || undefined;
  },
};

/** Judges the answers of each client protocol. */
export const FITNESS: Record<ClientProtocol, Fitness> = {
  openai: chatFitness,
  anthropic: messagesFitness,
  responses: responsesFitness,
  gemini: geminiFitness,
};
