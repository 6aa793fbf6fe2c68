import type { Directives } from './directives.ts';
import { anyObject, instanceOf } from './json-instance.ts';
import { hashText, lettersFrom, numberAt } from './random.ts';
import { fixedText, NO_TEXT, type ProducedText, wordText } from './text.ts';
import { tokensOf } from './tokens.ts';
import type { ToolScript } from './tool-script.ts';

/** A tool that the answer can call. */
export interface ToolToCall {
  name: string;
  /** JSON Schema of the tool's arguments; undefined for a tool that takes plain text. */
  schema: unknown;
  /** The namespace of the tool, in OpenAI's responses only. */
  namespace?: string;
}

/** A parsed request, independent of its protocol. */
export interface ParsedRequest {
  /** The seed comes from account, model and texts, so that the same request has the same answer. */
  seed: number;
  model: string;
  stream: boolean;
  /** Number of answers. */
  choices: number;
  /** Tokens of all input. */
  prompt_tokens: number;
  /** The output limit; null means no limit. */
  max_tokens: number | null;
  stop: string[];
  /**
   * Set if the answer must be JSON. Without a `schema`, the answer may be any object. With `is_word`,
   * the answer is the bare text of the schema's value.
   */
  json: { schema?: unknown; is_word?: boolean } | null;
  /** Tools that the answer may call, in order; empty if the answer must be text. */
  tools: ToolToCall[];
  parallel_tools: boolean;
  /** The tool calls that the user texts dictate. */
  script?: ToolScript;
  /** The tool result that ends the conversation; null if a tool result does not end it. */
  tool_result: string | null;
  /** Tokens of reasoning or thinking; 0 for none. */
  reasoning_tokens: number;
  /** The text that contains the directives. */
  last_user_text: string;
  client_reference: string | null;
}

export interface ToolCall {
  /** The id without the provider's prefix. */
  id: string;
  name: string;
  arguments: ProducedText;
}

/** Why the answer ends. */
type Finish = 'end' | 'length' | 'stop_sequence' | 'tools';

export interface Answer {
  /** The reasoning. Anthropic returns its text, and OpenAI returns only its token count. */
  reasoning: ProducedText;
  text: ProducedText;
  calls: ToolCall[];
  finish: Finish;
  stop_sequence: string | null;
  /** Tokens of the reasoning, the text and the calls together. */
  tokens: number;
}

const DEFAULT_TOKENS_MIN = 5;
const DEFAULT_TOKENS_SPREAD = 36;
const TOOL_RESULT_SHOWN_CHARS = 200;
const TOOL_CALL_ID_LETTERS = 24;
const MAX_TOOL_CALLS = 128;

/**
 * Returns the answer to a request. The same request always gets the same answer. The answer obeys
 * the token limit, and its token counts are exact.
 */
export function answerTo(parsed: ParsedRequest, directives: Directives, choice = 0): Answer {
  const seed = choice === 0 ? parsed.seed : numberAt(parsed.seed, choice);
  const limit = parsed.max_tokens ?? Number.POSITIVE_INFINITY;
  const thought = directives.reasoning ?? parsed.reasoning_tokens;
  const reasoning = wordText(~seed, Math.min(thought, limit));
  const room = limit - reasoning.tokens;
  const tools = calledTools(parsed, directives);
  if (tools.length > 0) return toolAnswer(tools, parsed, seed, reasoning, room);

  const wanted = wantedText(parsed, directives, seed);
  const text = wanted.tokens > room ? wanted.first(room) : wanted;
  const stopped = firstStop(text, parsed.stop);
  if (stopped !== undefined) {
    return answer(reasoning, stopped.text, [], 'stop_sequence', stopped.stop_sequence);
  }
  return answer(reasoning, text, [], text === wanted ? 'end' : 'length');
}

function answer(
  reasoning: ProducedText,
  text: ProducedText,
  calls: ToolCall[],
  finish: Finish,
  stop_sequence: string | null = null,
): Answer {
  let tokens = reasoning.tokens + text.tokens;
  for (const call of calls) tokens += tokensOf(call.name) + call.arguments.tokens;
  return { reasoning, text, calls, finish, stop_sequence, tokens };
}

function wantedText(parsed: ParsedRequest, directives: Directives, seed: number): ProducedText {
  if (parsed.json !== null) {
    const { schema, is_word = false } = parsed.json;
    const value = schema === undefined ? anyObject(seed) : instanceOf(schema, seed);
    if (is_word) return fixedText(String(value));
    return fixedText(JSON.stringify(value));
  }
  const tokens =
    directives.tokens ?? DEFAULT_TOKENS_MIN + (numberAt(seed, 0) % DEFAULT_TOKENS_SPREAD);
  const unicode = directives.unicode === 1;
  if (parsed.tool_result === null) return wordText(seed, tokens, unicode);
  const shown = fixedText(
    `The tool says: ${parsed.tool_result.slice(0, TOOL_RESULT_SHOWN_CHARS)}\n`,
  );
  // The directive `tokens` sets the length of the whole text: the quoted result and the words.
  const rest = directives.tokens === undefined ? tokens : Math.max(0, tokens - shown.tokens);
  const text = fixedText(shown.whole() + wordText(seed, rest, unicode).whole());
  return directives.tokens === undefined ? text : text.first(tokens);
}

function calledTools(parsed: ParsedRequest, directives: Directives): ToolToCall[] {
  const { tools, parallel_tools } = parsed;
  if (tools.length === 0) return [];
  if (parsed.script?.isGiven) {
    const name = parsed.script.next?.name;
    return tools.filter((tool) => tool.name === name).slice(0, 1);
  }
  const wanted = directives.tools ?? 1;
  const size = Math.min(parallel_tools ? wanted : 1, wanted, MAX_TOOL_CALLS);
  return Array.from({ length: size }, (_, index) => tools[index % tools.length] as ToolToCall);
}

function toolAnswer(
  tools: ToolToCall[],
  { script }: ParsedRequest,
  seed: number,
  reasoning: ProducedText,
  room: number,
): Answer {
  const calls: ToolCall[] = [];
  let left = room;
  for (const [index, tool] of tools.entries()) {
    const call_seed = numberAt(hashText(tool.name, seed), index);
    const whole = argumentsOf(tool, call_seed, script);
    left -= tokensOf(tool.name);
    if (left <= 0) return answer(reasoning, NO_TEXT, calls, 'length');
    const id = lettersFrom(numberAt(call_seed, index), TOOL_CALL_ID_LETTERS);
    calls.push({ id, name: tool.name, arguments: left < whole.tokens ? whole.first(left) : whole });
    if (left < whole.tokens) return answer(reasoning, NO_TEXT, calls, 'length');
    left -= whole.tokens;
  }
  return answer(reasoning, NO_TEXT, calls, 'tools');
}

function argumentsOf(tool: ToolToCall, seed: number, script: ToolScript | undefined): ProducedText {
  const scripted = script?.next?.arguments;
  if (scripted !== undefined) {
    // A tool that takes plain text gets the text of the member `input`.
    const { input } = scripted;
    return fixedText(tool.schema === undefined ? String(input) : JSON.stringify(scripted));
  }
  if (tool.schema === undefined) return wordText(seed, DEFAULT_TOKENS_MIN);
  return fixedText(JSON.stringify(instanceOf(tool.schema, seed)));
}

/** Returns the text before its first stop sequence; undefined if it contains none. */
function firstStop(
  text: ProducedText,
  stop: string[],
): { text: ProducedText; stop_sequence: string } | undefined {
  if (stop.length === 0) return undefined;
  const whole = text.whole();
  let found: { at: number; stop_sequence: string } | undefined;
  for (const stop_sequence of stop) {
    const at = stop_sequence === '' ? -1 : whole.indexOf(stop_sequence);
    if (at >= 0 && (found === undefined || at < found.at)) found = { at, stop_sequence };
  }
  if (found === undefined) return undefined;
  return { text: fixedText(whole.slice(0, found.at)), stop_sequence: found.stop_sequence };
}
