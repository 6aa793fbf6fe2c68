/**
 * Translates an upstream's refusal to the client's words. An upstream names its own parameters, e.g.
 * `tools.0.custom.name`, and the client sent `tools[0].function.name`.
 */
import type { ClientProtocol } from '../../protocols/names.ts';
import { TerminalUpstreamError, type UpstreamCall } from '../contract.ts';
import { fitToModel } from './abilities.ts';
import { Origins } from './origins.ts';
import { readPath } from './paths.ts';
import { ownWords } from './problems.ts';
import { isParameter } from './settings.ts';
import { type RequestProtocol, readRequest, UPSTREAM_TRANSLATORS } from './translate.ts';
import { isForeign } from './vocabulary.ts';

/** A path with several steps. */
const LONG_PATH = /(?:#\/)?[A-Za-z_$][\w$-]*(?:\.[\w$-]+|\[[^\]\s]{1,64}\]|\/[\w$-]+)+/g;
/** A single name: in quotes, at the start of a line, or in `snake_case`. */
const NAMES = [
  /(?<=['"`])(?!(?:user|model|system|assistant|tool|function|text)\b)[a-z][\w-]*(?=['"`])/g,
  /(?<=^(?:\* )?)[a-z]\w*(?=:)/gm,
  /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g,
];

/** The text that stands for a replaced path, so that no path is replaced twice. */
const PLACE = /⟪(\d+)⟫/g;

/** Returns the refusal of a translated call with the client's words and the client's parameter. */
export function translateRefusal(
  { error_id, public_message, param, status }: TerminalUpstreamError,
  client: ClientProtocol,
  upstream: RequestProtocol,
  call: UpstreamCall,
): TerminalUpstreamError {
  const { request: write } = UPSTREAM_TRANSLATORS[upstream];
  const origins = new Origins(call.body, client, upstream, (body) =>
    write(
      fitToModel(
        readRequest(client, body).request,
        call.model_max_output_tokens,
        call.model_abilities,
      ),
      call.model_max_output_tokens,
      call,
    ),
  );
  const find = (path: string) => origins.find(readPath(path));
  const found: string[] = [];
  /** For each path of the client, the upstream's paths in the message that were replaced by it. */
  const names = new Map<string, Set<string>>();
  const model = call.public_model;
  let text = model === '' ? public_message : public_message.replaceAll(model, keep(found, model));
  const kept_models = found.length;
  let hasUnknown = false;
  for (const paths of [LONG_PATH, ...NAMES]) {
    text = text.replace(paths, (path) => {
      const own = find(path);
      if (own === undefined) {
        hasUnknown ||= paths === LONG_PATH && isParameter(readPath(path), upstream);
        return path;
      }
      names.set(own, (names.get(own) ?? new Set()).add(path));
      return keep(found, own);
    });
  }
  // "Use 'max_completion_tokens' instead of 'max_tokens'" makes no sense if the client's protocol
  // has only one name for both.
  const isAmbiguous = [...names.values()].some(({ size }) => size > 1);
  const isClear = !hasUnknown && !isAmbiguous;
  const own_param = (param === null ? undefined : find(param)) ?? found[kept_models];
  const errorOf = (message: string) =>
    new TerminalUpstreamError(error_id, message, own_param ?? null, status);
  if (error_id === 'context_length_exceeded') return errorOf(tooLong(public_message, client));
  if (isClear && !isForeign(text.replaceAll(PLACE, ' '), client, origins.ownNames)) {
    return errorOf(text.replaceAll(PLACE, (_, at) => found[Number(at)] ?? '').replace(/^\* /, ''));
  }
  if (error_id === 'content_policy_violation') {
    return errorOf('The content policy of the model refused the request.');
  }
  return errorOf(ownWords(public_message, own_param));
}

function keep(found: string[], text: string): string {
  found.push(text);
  return `⟪${found.length - 1}⟫`;
}

/**
 * Returns the message for a too long input, in the words of the provider of the client's protocol.
 * Programs recognise these words, e.g. to make their conversation shorter.
 */
function tooLong(message: string, client: ClientProtocol): string {
  // The names of models are removed first, because they can contain numbers, e.g. dates.
  const counts = message.replaceAll(/[\w.]+-[\w.-]+/g, '').match(/\d[\d,]*/g) ?? [];
  const numbers = counts.map((each) => Number(each.replaceAll(',', '')));
  const [count, most] = [...new Set(numbers)].sort((a, b) => b - a);
  const isKnown = count !== undefined && most !== undefined;
  switch (client) {
    case 'anthropic':
      return isKnown
        ? `prompt is too long: ${count} tokens > ${most} maximum`
        : 'prompt is too long';
    case 'gemini':
      return isKnown
        ? `The input token count (${count}) exceeds the maximum number of tokens allowed (${most}).`
        : 'The input token count exceeds the maximum number of tokens allowed.';
    case 'openai':
      return isKnown
        ? `This model's maximum context length is ${most} tokens. However, your messages resulted in ${count} tokens. Please reduce the length of the messages.`
        : "The messages are longer than the model's maximum context length.";
    case 'responses':
      return 'Your input exceeds the context window of this model. Please adjust your input and try again.';
    default:
      return client satisfies never;
  }
}
