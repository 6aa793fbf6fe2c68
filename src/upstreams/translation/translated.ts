import type { ClientProtocol } from '../../protocols/names.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall, UpstreamProtocol, UpstreamStream } from '../contract.ts';
import { parseObject } from '../transport/exchange.ts';
import type { AnswerNames, NeutralEvent, StreamReader, StreamWriter } from './neutral.ts';
import { CLIENTS, endShort, type RequestForm, translateCall, UPSTREAMS } from './translate.ts';

const MS = 1_000;

/**
 * An upstream's protocol for clients of another one: the call is translated on its way there, the
 * answer on its way back, event by event. What the upstream's own protocol does (limits, hiding,
 * metering, failures) stays as it is.
 */
export function translated(
  client: ClientProtocol,
  written: RequestForm,
  upstream: UpstreamProtocol,
): UpstreamProtocol {
  return {
    name: upstream.name,

    async complete(call) {
      const names = namesOf(call);
      const { call: sent, request } = translateCall(client, written, call);
      const answer = await upstream.complete(sent);
      const neutral = UPSTREAMS[written].answer(parseObject(answer.body_text), request);
      return { ...answer, body_text: JSON.stringify(CLIENTS[client].answer(neutral, names)) };
    },

    async stream(call) {
      const names = namesOf(call);
      const { call: sent, request } = translateCall(client, written, call);
      const stream = await upstream.stream(sent);
      return new TranslatedStream(
        stream,
        UPSTREAMS[written].stream(request),
        CLIENTS[client].stream(names),
      );
    },

    errorEvent: ERROR_EVENTS[client],
  };
}

function namesOf(call: UpstreamCall): AnswerNames {
  const created = Math.floor(Date.now() / MS);
  return { id: call.answer_id, model: call.public_model, created, request: call.body };
}

class TranslatedStream implements UpstreamStream {
  readonly events: AsyncIterable<StreamEvent[]>;
  private isOpen = false;

  constructor(
    private readonly stream: UpstreamStream,
    private readonly reader: StreamReader,
    private readonly writer: StreamWriter,
  ) {
    this.events = { [Symbol.asyncIterator]: () => this.iterate() };
  }

  usage(): TokenUsage | null {
    return this.stream.usage();
  }

  inputUsage(): TokenUsage | null {
    return this.stream.inputUsage();
  }

  endEarly(usage: TokenUsage): string {
    return endShort(this.writer, this.isOpen, usage);
  }

  answer(): object {
    return this.writer.answer();
  }

  private iterate(): AsyncIterator<StreamEvent[]> {
    const inner = this.stream.events[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { done, value } = await inner.next();
        if (done) return { done: true, value: undefined };
        return { done: false, value: value.map((event) => this.translate(event)) };
      },
      return: async () => {
        await inner.return?.();
        return { done: true, value: undefined };
      },
    };
  }

  private translate(event: StreamEvent): StreamEvent {
    const text = framesIn(event.text)
      .flatMap(({ name, data }) => this.reader.read(name, data))
      .map((each) => this.write(each))
      .join('');
    return { ...event, text };
  }

  private write(event: NeutralEvent): string {
    if (event.type === 'open') this.isOpen = true;
    if (event.type === 'close') this.isOpen = false;
    return this.writer.write(event);
  }
}

/** The events in what an upstream's dialect made public: whole ones, each with one line of data. */
function framesIn(text: string): { name: string | undefined; data: string }[] {
  const frames: { name: string | undefined; data: string }[] = [];
  let name: string | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice('event: '.length);
    else if (line.startsWith('data: ')) {
      frames.push({ name, data: line.slice('data: '.length) });
      name = undefined;
    }
  }
  return frames;
}

type ErrorEvent = UpstreamProtocol['errorEvent'];

/** How a client's protocol says that a stream broke. */
const ERROR_EVENTS: Record<ClientProtocol, ErrorEvent> = {
  openai: ({ type, code, message }) =>
    `data: ${JSON.stringify({ error: { message, type, param: null, code } })}\n\ndata: [DONE]\n\n`,
  anthropic: ({ native_type, message }) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: native_type, message } })}\n\n`,
  responses: ({ code, message }) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param: null, sequence_number: 0 })}\n\n`,
  gemini: ({ code, message }) =>
    `data: ${JSON.stringify({ error: { code: 502, message, status: 'UNAVAILABLE', details: [{ reason: code }] } })}\n\n`,
};
