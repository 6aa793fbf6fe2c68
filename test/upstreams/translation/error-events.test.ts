/**
 * The error events of a stream that broke off: every client protocol on every upstream protocol. The
 * events that a client did not get, because they wait for the charge, leave no gap in the numbers.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { protocolFor } from '../../../src/upstreams/chat/protocols.ts';
import { type RunningSimulator, startSimulator } from '../../support/simulator.ts';
import { callOf, readStream } from '../upstream.ts';
import { BASES, CLIENTS, PAIRS } from './clients.ts';

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.stop());

const ERROR = new WeirError('upstream_error', 'It broke.', { param: null });

/** The parsed data of each event; null for `[DONE]`. */
function eventsIn(text: string): (Record<string, unknown> | null)[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) =>
    data === '[DONE]' ? null : JSON.parse(data),
  );
}

describe.each(PAIRS)('a %s client on %s', (client, name) => {
  const open = (said: string) => {
    const request = {
      ...{ system: [], tools: [], stop: [], stream: true, max_output_tokens: 100 },
      turns: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: said }] }],
    };
    const body = { model: 'gpt-test', stream: true, ...CLIENTS[client].write(request) };
    return readStream(protocolFor(client, name), callOf(simulator.url + BASES[name], body));
  };

  test.each([
    ['in its middle', 'Hi [[sim tokens=9 truncate_after=6]]'],
    // Then the charge fails, and the client does not get the last events.
    ['after its last event', 'Hi [[sim tokens=9]]'],
  ])('gets the error event if the stream broke %s', async (_, said) => {
    const { events, stream } = await open(said);
    const sent = events.filter(({ final }) => !final).map(({ text }) => text);
    const last = eventsIn(stream.errorEvents(ERROR, 'req_1'));
    switch (client) {
      case 'openai':
        expect(last).toMatchObject([
          {
            error: {
              ...{ message: 'It broke.', type: 'upstream_error', code: 'upstream_error' },
              ...{ param: null, request_id: 'req_1' },
            },
          },
          null,
        ]);
        break;
      case 'anthropic':
        expect(last).toMatchObject([
          {
            ...{ type: 'error', request_id: 'req_1' },
            error: { type: 'api_error', code: 'upstream_error', message: 'It broke.' },
          },
        ]);
        break;
      case 'gemini':
        expect(last).toMatchObject([
          {
            error: {
              ...{ code: 502, status: 'INTERNAL', message: 'It broke.' },
              details: [{ reason: 'upstream_error', request_id: 'req_1' }],
            },
          },
        ]);
        break;
      default: {
        const numbers = [...eventsIn(sent.join('')), ...last].map(
          (event) => event?.['sequence_number'],
        );
        expect(numbers).toEqual([...numbers.keys()]);
        expect(last).toMatchObject([
          { type: 'error', code: 'upstream_error', error: { request_id: 'req_1' } },
          { type: 'response.failed', response: { id: 'answer-of-weir', status: 'failed' } },
        ]);
      }
    }
  });
});
