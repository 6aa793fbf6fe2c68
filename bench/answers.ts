/** Reads an answer as a client would, and names what is wrong with it. */
import type { Target } from './target.ts';

/** Length of each answer, set by a directive in the prompt. */
export const ANSWER_TOKENS = 20;
const PATIENCE_MS = 10_000;

interface Usage {
  completion_tokens?: number;
}

interface Whole {
  choices?: { message?: { content?: unknown }; finish_reason?: unknown }[];
  usage?: Usage;
}

interface Chunk {
  choices?: { delta?: { content?: unknown }; finish_reason?: unknown }[];
  usage?: Usage | null;
  error?: unknown;
}

/**
 * Sends one call and reads its answer to the end. Returns what is wrong with the answer; undefined
 * if it is valid.
 */
export async function flawOfCall(target: Target, stream: boolean): Promise<string | undefined> {
  try {
    const response = await fetch(target.url, {
      method: 'POST',
      headers: target.headers,
      body: bodyOf(target),
      // A pooled connection may belong to a server that has stopped.
      keepalive: false,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await response.text();
    const kind = response.headers.get('content-type') ?? '';
    const cache = response.headers.get('x-weir-cache') ?? 'nothing';
    if (response.ok && target.cache !== undefined && cache !== target.cache) {
      return `x-weir-cache says ${cache} instead of ${target.cache}`;
    }
    return flawOfAnswer({ status: response.status, kind, text }, stream);
  } catch (error) {
    return `the connection broke: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Returns the body of one call. */
function bodyOf({ body, unique }: Target): string {
  return unique === undefined ? body : body.replace(unique, crypto.randomUUID());
}

/**
 * Returns what is wrong with an answer; undefined if the answer is valid. A valid answer has status
 * 2xx, the right type, its end and its usage.
 */
function flawOfAnswer(
  answer: { status: number; kind: string; text: string },
  stream: boolean,
): string | undefined {
  const { status, kind, text } = answer;
  if (status < 200 || status > 299) return `status ${status}: ${text.slice(0, 120)}`;
  const expected = stream ? 'text/event-stream' : 'application/json';
  if (!kind.startsWith(expected)) return `content type "${kind}" instead of ${expected}`;
  return stream ? flawOfStream(text) : flawOfWhole(text);
}

function flawOfWhole(text: string): string | undefined {
  const answer = parsed<Whole>(text);
  if (answer === undefined) return 'the body is not JSON';
  const choice = answer.choices?.[0];
  const content = choice?.message?.content;
  if (typeof content !== 'string' || content === '') return 'the answer has no text';
  if (!choice?.finish_reason) return 'the answer has no finish_reason';
  return flawOfUsage(answer.usage);
}

function flawOfStream(text: string): string | undefined {
  if (!text.endsWith('\n\n')) return 'the stream ends within an event';
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim());
  if (events.pop() !== '[DONE]') return 'the stream does not end with [DONE]';
  const chunks = events.map((event) => parsed<Chunk>(event));
  if (chunks.some((chunk) => chunk === undefined)) return 'an event is not JSON';
  if (chunks.some((chunk) => chunk?.error)) return 'the stream holds an error';
  const choices = chunks.flatMap((chunk) => chunk?.choices ?? []);
  if (!choices.some(({ delta }) => typeof delta?.content === 'string' && delta.content !== '')) {
    return 'the stream has no text';
  }
  if (!choices.some(({ finish_reason }) => finish_reason)) return 'the stream has no finish_reason';
  return flawOfUsage(chunks.findLast((chunk) => chunk?.usage)?.usage ?? undefined);
}

function flawOfUsage(usage: Usage | undefined): string | undefined {
  if (usage?.completion_tokens === ANSWER_TOKENS) return undefined;
  return `usage says ${usage?.completion_tokens ?? 'nothing'} instead of ${ANSWER_TOKENS} tokens`;
}

function parsed<T extends object>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
