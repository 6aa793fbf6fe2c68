import type { Answer, ToolCall } from '../shared/answer.ts';
import type { Emission } from '../shared/event-stream.ts';
import type { Reply } from '../shared/protocol.ts';
import type { ProducedText } from '../shared/text.ts';
import { tokensOf } from '../shared/tokens.ts';
import type { ChatRequest } from './parsed-request.ts';

/** Chat completions as the API writes them, whole and in chunks (OpenAI docs: Chat, Streaming). */

export type ChatReply = Reply<ChatRequest>;

const FINGERPRINT = 'fp_sim44709d6fcb';
const DONE = 'data: [DONE]\n\n';
/** The log probability of every token, if the request has `logprobs`. */
const LOGPROB = -0.01;

const encoder = new TextEncoder();

/** The body of a whole answer. */
export function chatBody(reply: ChatReply): string {
  const { parsed, answers } = reply;
  return JSON.stringify({
    id: completionId(reply),
    object: 'chat.completion',
    created: nowSeconds(),
    model: parsed.model,
    choices: answers.map((answer, index) => ({
      index,
      message: {
        role: 'assistant',
        content: answer.calls.length > 0 ? null : answer.text.whole(),
        ...(answer.calls.length > 0 ? { tool_calls: toolCalls(answer, parsed) } : {}),
        refusal: null,
        annotations: [],
      },
      logprobs: parsed.logprobs ? logprobs(answer.text, 0, answer.text.pieces) : null,
      finish_reason: finishReason(answer, parsed),
    })),
    usage: usage(reply),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  });
}

/**
 * The chunks of a streamed answer: the roles, the choices in turn, the finish reasons, the usage
 * and `[DONE]`.
 */
export function* chatEvents(reply: ChatReply): Generator<Emission> {
  const { parsed, answers } = reply;
  const chunk = chunkWriter(reply);
  for (const [index, { calls }] of answers.entries()) {
    const content = calls.length > 0 ? 'null' : '""';
    const delta = `{"role":"assistant","content":${content},"refusal":null}`;
    yield { text: chunk(index, delta, 'null', 'null'), tokens: 0 };
  }
  const deltas = answers.map((answer) => deltasOf(answer, reply));
  while (deltas.length > 0) {
    // Choices are produced in parallel, so their chunks alternate.
    for (const [place, choice] of [...deltas.entries()].reverse()) {
      const { done, value } = choice.next();
      if (done) deltas.splice(place, 1);
      else
        yield {
          text: chunk(value.index, value.delta, value.logprobs, 'null'),
          tokens: value.tokens,
        };
    }
  }
  for (const [index, answer] of answers.entries()) {
    const reason = JSON.stringify(finishReason(answer, parsed));
    yield { text: chunk(index, '{}', 'null', reason), tokens: 0 };
  }
  if (parsed.include_usage && reply.usage !== undefined) {
    yield { text: usageChunk(reply), tokens: 0 };
  }
  yield { text: DONE, tokens: 0 };
}

type ChunkWriter = (index: number, delta: string, logprobs: string, finish: string) => string;

/**
 * Writes chunks. Only the choice differs between chunks, so the rest of a chunk is written once.
 */
function chunkWriter(reply: ChatReply): ChunkWriter {
  const head = `${chunkHead(reply)}"choices":[{"index":`;
  const tail = reply.parsed.include_usage ? '}],"usage":null}\n\n' : '}]}\n\n';
  return (index, delta, logprobs, finish) =>
    `${head}${index},"delta":${delta},"logprobs":${logprobs},"finish_reason":${finish}${tail}`;
}

function usageChunk(reply: ChatReply): string {
  return `${chunkHead(reply)}"choices":[],"usage":${JSON.stringify(usage(reply))}}\n\n`;
}

function chunkHead(reply: ChatReply): string {
  const id = completionId(reply);
  const model = JSON.stringify(reply.parsed.model);
  return (
    `data: {"id":"${id}","object":"chat.completion.chunk","created":${nowSeconds()},` +
    `"model":${model},"service_tier":"default","system_fingerprint":"${FINGERPRINT}",`
  );
}

/** One delta of a choice, as JSON, and how many tokens are in it. */
interface Delta {
  index: number;
  delta: string;
  logprobs: string;
  tokens: number;
}

function* deltasOf(answer: Answer, reply: ChatReply): Generator<Delta> {
  const { chunk_tokens, parsed } = reply;
  const index = reply.answers.indexOf(answer);
  const { text } = answer;
  for (let piece = 0; piece < text.pieces; piece += chunk_tokens) {
    const until = Math.min(text.pieces, piece + chunk_tokens);
    const { content, tokens } = join(text, piece, until);
    yield {
      index,
      delta: `{"content":${JSON.stringify(content)}}`,
      logprobs: parsed.logprobs ? JSON.stringify(logprobs(text, piece, until)) : 'null',
      tokens,
    };
  }
  for (const [position, call] of answer.calls.entries()) {
    yield* callDeltas(call, position, index, reply);
  }
}

/**
 * The deltas of a tool call. The first delta has the id and the name. Each later delta has a
 * fragment of the arguments.
 */
function* callDeltas(
  call: ToolCall,
  position: number,
  index: number,
  { chunk_tokens, parsed }: ChatReply,
): Generator<Delta> {
  const kind = kindOf(call, parsed);
  const field = kind === 'custom' ? 'input' : 'arguments';
  const delta = (fields: object) =>
    JSON.stringify({ tool_calls: [{ index: position, ...fields }] });
  const named = { id: `call_${call.id}`, type: kind, [kind]: { name: call.name, [field]: '' } };
  yield { index, delta: delta(named), logprobs: 'null', tokens: tokensOf(call.name) };
  for (let piece = 0; piece < call.arguments.pieces; piece += chunk_tokens) {
    const { content, tokens } = join(call.arguments, piece, piece + chunk_tokens);
    yield { index, delta: delta({ [kind]: { [field]: content } }), logprobs: 'null', tokens };
  }
}

function join(
  text: ProducedText,
  from: number,
  until: number,
): { content: string; tokens: number } {
  let content = '';
  let tokens = 0;
  for (let piece = from; piece < Math.min(until, text.pieces); piece += 1) {
    content += text.piece(piece);
    tokens += text.tokensIn(piece);
  }
  return { content, tokens };
}

function toolCalls(answer: Answer, parsed: ChatRequest): object[] {
  return answer.calls.map((call) => {
    const id = `call_${call.id}`;
    const { name } = call;
    const text = call.arguments.whole();
    return kindOf(call, parsed) === 'custom'
      ? { id, type: 'custom', custom: { name, input: text } }
      : { id, type: 'function', function: { name, arguments: text } };
  });
}

function kindOf(call: ToolCall, parsed: ChatRequest): 'function' | 'custom' {
  const tool = parsed.tools.find(({ name }) => name === call.name);
  return tool !== undefined && tool.schema === undefined ? 'custom' : 'function';
}

function finishReason(answer: Answer, parsed: ChatRequest): string {
  if (answer.finish === 'length') return 'length';
  // If a tool was forced by name, the API returns `stop` (OpenAI docs: Function calling).
  return answer.finish === 'tools' && !parsed.forced_tool ? 'tool_calls' : 'stop';
}

function logprobs(text: ProducedText, from: number, until: number): object {
  const content = [];
  for (let piece = from; piece < until; piece += 1) {
    const token = text.piece(piece);
    const bytes = [...encoder.encode(token)];
    content.push({ token, logprob: LOGPROB, bytes, top_logprobs: [] });
  }
  return { content, refusal: null };
}

function usage({ usage, answers }: ChatReply): object | undefined {
  if (usage === undefined) return undefined;
  const { prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens } = usage;
  let reasoning_tokens = 0;
  for (const { reasoning } of answers) reasoning_tokens += reasoning.tokens;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: {
      cached_tokens,
      ...(cache_write_tokens > 0 ? { cache_write_tokens } : {}),
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function completionId({ request_id }: ChatReply): string {
  return request_id.replace('req_', 'chatcmpl-');
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
