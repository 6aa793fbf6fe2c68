import type { ClientProtocol } from '../../protocols/names.ts';
import type { TokenUsage } from '../../protocols/token-usage.ts';
import type { StreamEvent, UpstreamCall, UpstreamProtocol, UpstreamStream } from '../contract.ts';
import { parseObject } from '../transport/exchange.ts';
import { geminiErrorEvent } from './gemini-answer.ts';
import type { AnswerNames, NeutralEvent, StreamReader, StreamWriter } from './neutral.ts';
import {
  CLIENT_TRANSLATORS,
  type RequestProtocol,
  translateCall,
  UPSTREAM_TRANSLATORS,
  writeEarlyEnd,
} from './translate.ts';

const MS_PER_S = 1_000;

/**
 * Returns a protocol that serves clients of the protocol `client` through `upstream`. It translates
 * the call, and the answer event by event. `upstream` still limits the output, hides ids and model
 * names, counts the text and classifies failures. `form` is the format of the request bodies that
 * `upstream` takes.
 */
export function translateProtocol(
  client: ClientProtocol,
  form: RequestProtocol,
  upstream: UpstreamProtocol,
): UpstreamProtocol {
  return {
    name: upstream.name,

    async complete(call) {
      const names = namesOf(call);
      const { call: translatedCall, request } = translateCall(client, form, call);
      const answer = await upstream.complete(translatedCall);
      const neutral = UPSTREAM_TRANSLATORS[form].answer(parseObject(answer.body_text), request);
      return {
        ...answer,
        body_text: JSON.stringify(CLIENT_TRANSLATORS[client].answer(neutral, names)),
      };
    },

    async stream(call) {
      const names = namesOf(call);
      const { call: translatedCall, request } = translateCall(client, form, call);
      const stream = await upstream.stream(translatedCall);
      return new TranslatedStream(
        stream,
        UPSTREAM_TRANSLATORS[form].stream(request),
        CLIENT_TRANSLATORS[client].stream(names),
      );
    },

    errorEvent: ERROR_EVENTS[client],
  };
}

function namesOf(call: UpstreamCall): AnswerNames {
  const created = Math.floor(Date.now() / MS_PER_S);
  return { id: call.answer_id, model: call.public_model, created, request: call.body };
}

/** An upstream's stream whose events are translated to the client's protocol. */
class TranslatedStream implements UpstreamStream {
  readonly events: AsyncIterable<StreamEvent[]>;
  private hasOpenPart = false;

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
    return writeEarlyEnd(this.writer, this.hasOpenPart, usage);
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
    const text = splitEvents(event.text)
      .flatMap(({ name, data }) => this.reader.read(name, data))
      .map((neutral) => this.write(neutral))
      .join('');
    return { ...event, text };
  }

  private write(event: NeutralEvent): string {
    if (event.type === 'open') this.hasOpenPart = true;
    if (event.type === 'close') this.hasOpenPart = false;
    return this.writer.write(event);
  }
}

/**
 * Splits text that an upstream's protocol wrote for its own clients into events. Each event is
 * complete and has one data line.
 */
function splitEvents(text: string): { name: string | undefined; data: string }[] {
  const events: { name: string | undefined; data: string }[] = [];
  let name: string | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('event: ')) name = line.slice('event: '.length);
    else if (line.startsWith('data: ')) {
      events.push({ name, data: line.slice('data: '.length) });
      name = undefined;
    }
  }
  return events;
}

type WriteErrorEvent = UpstreamProtocol['errorEvent'];

/** Writes the error event of a broken stream in a client's protocol. */
const ERROR_EVENTS: Record<ClientProtocol, WriteErrorEvent> = {
  openai: ({ type, code, message }) =>
    `data: ${JSON.stringify({ error: { message, type, param: null, code } })}\n\ndata: [DONE]\n\n`,
  anthropic: ({ native_type, message }) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: native_type, message } })}\n\n`,
  responses: ({ code, message }) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param: null, sequence_number: 0 })}\n\n`,
  gemini: geminiErrorEvent,
};
