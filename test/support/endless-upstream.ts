/** An upstream of chat and messages with very long answers: 160 MB each, in events of 16 kB. */
export interface EndlessUpstream {
  url: string;
  /** Number of received calls. */
  calls(): number;
  /** Bytes of all answers that were read so far. */
  taken(): number;
  stop(): Promise<void>;
}

const EVENT_CHARS = 16_000;
const EVENTS = 10_000;
/** Bytes of one complete answer. */
export const ENDLESS_BYTES = EVENT_CHARS * EVENTS;

const content = 'x'.repeat(EVENT_CHARS);
const frame = (data: { type?: string }) =>
  `${data.type ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
const message = {
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] },
  usage: { input_tokens: 1, output_tokens: 1 },
};

const WORDS = {
  chat: {
    start: '',
    event: frame({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    } as object),
  },
  messages: {
    start:
      frame({ type: 'message_start', message } as { type: string }) +
      frame({
        ...{ type: 'content_block_start', index: 0 },
        content_block: { type: 'text', text: '' },
      } as { type: string }),
    event: frame({
      ...{ type: 'content_block_delta', index: 0 },
      delta: { type: 'text_delta', text: content },
    } as { type: string }),
  },
};

export function startEndlessUpstream(): EndlessUpstream {
  const encoder = new TextEncoder();
  let calls = 0;
  let taken = 0;
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 0, development: false },
    fetch(request) {
      const isChat = request.url.endsWith('/chat/completions');
      const { start, event } = isChat ? WORDS.chat : WORDS.messages;
      const bytes = encoder.encode(event);
      calls += 1;
      let sent = 0;
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(encoder.encode(start || ': begin\n\n')),
        pull(controller) {
          if (sent >= EVENTS) return controller.close();
          sent += 1;
          taken += EVENT_CHARS;
          return controller.enqueue(bytes);
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    calls: () => calls,
    taken: () => taken,
    stop: () => server.stop(true),
  };
}
