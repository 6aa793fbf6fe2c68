import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { openaiProtocol } from '../../../src/upstreams/chat/openai.ts';
import { callOf, readStream, rejection, startUpstream, streamed } from '../upstream.ts';

const upstream = startUpstream();
afterEach(() => {
  upstream.asked.length = 0;
});
afterAll(() => upstream.stop());

const MESSAGES = [{ role: 'user', content: 'Hi' }];

/** Returns the request that the upstream received for a body. */
async function sent(body: Record<string, unknown> | string, max_output_tokens?: number) {
  upstream.answer = () => Response.json({ id: 'x', model: 'y', choices: [{}] });
  const changes = max_output_tokens === undefined ? {} : { max_output_tokens };
  await openaiProtocol.complete(callOf(upstream.url, body, changes));
  return upstream.asked.at(-1)?.text ?? '';
}

describe('an OpenAI request', () => {
  test('is sent to the channel’s address with the channel’s key and no client headers', async () => {
    await sent({ model: 'gpt-test', messages: MESSAGES });
    const [asked] = upstream.asked;
    expect(asked?.path).toBe('/chat/completions');
    expect(asked?.headers.get('authorization')).toBe('Bearer sim-main');
    expect(asked?.headers.get('content-type')).toBe('application/json');
  });

  test('changes only the model', async () => {
    const body =
      '{ "seed":12345678901234567890,"model" : "gpt-test", "temperature":1.0,"x_new":{"model":"gpt-test"},"messages":[{"role":"user","content":"a\\u00e9\\ud83d"}] }';
    expect(await sent(body)).toBe(body.replace(': "gpt-test"', ': "physical-9"'));
  });

  test('always requests the usage of a stream, and keeps the client’s other options', async () => {
    upstream.answer = () => streamed(['data: [DONE]\n\n']);
    const ask = async (rest: string) => {
      const body = `{"model":"gpt-test","stream":true${rest}}`;
      await readStream(openaiProtocol, callOf(upstream.url, body));
      return upstream.asked.at(-1)?.text;
    };
    const start = '{"model":"physical-9","stream":true';
    expect(await ask('')).toBe(`${start},"stream_options":{"include_usage":true}}`);
    expect(await ask(',"stream_options":null')).toBe(
      `${start},"stream_options":{"include_usage":true}}`,
    );
    expect(await ask(',"stream_options":{"a":1.0,"include_usage":false,"b":2}')).toBe(
      `${start},"stream_options":{"a":1.0,"include_usage":true,"b":2}}`,
    );
  });

  test('P2: limits the output to what the reservation covers, under every name of the limit', async () => {
    const limit = async (body: object) => JSON.parse(await sent({ model: 'm', ...body }, 50));
    expect(await limit({})).toEqual({ model: 'physical-9', max_completion_tokens: 50 });
    expect(await limit({ max_tokens: 80 })).toMatchObject({ max_tokens: 50 });
    expect(await limit({ max_tokens: 8, max_completion_tokens: 99 })).toMatchObject({
      max_tokens: 8,
      max_completion_tokens: 50,
    });
    expect(await limit({ max_tokens: null })).toMatchObject({ max_completion_tokens: 50 });
  });

  test('P2: a repeated member reaches the upstream once, as Weir read it', async () => {
    expect(await sent('{"n":9,"model":"a","n":1,"model":"gpt-test"}')).toBe(
      '{"n":1,"model":"physical-9"}',
    );
  });

  test('removes Weir’s cache control and forwards the provider’s', async () => {
    for (const type of ['no_cache', 'no_store', 'response_only', 'semantic_only']) {
      expect(await sent({ cache_control: { type }, model: 'm' })).toBe('{"model":"physical-9"}');
    }
    const body = '{"model":"physical-9","cache_control":{"type":"ephemeral","ttl":"1h"}}';
    expect(await sent(body)).toBe(body);
  });
});

describe('a whole OpenAI answer', () => {
  const answered = async (text: string) => {
    upstream.answer = () =>
      new Response(text, {
        headers: { 'content-type': 'application/json', 'openai-organization': 'sim-org' },
      });
    return await openaiProtocol.complete(callOf(upstream.url, { model: 'gpt-test' }));
  };

  test('P5: has Weir’s id and the public model, and is otherwise unchanged', async () => {
    const text =
      '{ "id" : "chatcmpl-SIM","object":"chat.completion","created":1.0,"model":"physical-9-2026",\n"x":{"model" : "physical-9","id":"chatcmpl-inner"},"choices":[{"message":{"content":"I am \\"model\\":\\"physical-9\\"","tool_calls":[{"id":"call_1","function":{"name":"f","arguments":"{}"}}]}}],"big":12345678901234567890,"provider":"Hidden","x_groq":{"id":"req_1"}}';
    const { body_text } = await answered(text);
    expect(body_text).toBe(
      '{ "id" : "answer-of-weir","object":"chat.completion","created":1.0,"model":"gpt-test",\n"x":{"model" : "gpt-test","id":"chatcmpl-inner"},"choices":[{"message":{"content":"I am \\"model\\":\\"physical-9\\"","tool_calls":[{"id":"call_1","function":{"name":"f","arguments":"{}"}}]}}],"big":12345678901234567890}',
    );
  });

  test('counts each token of its usage once', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    expect((await answered(JSON.stringify({ choices: [{}], usage }))).usage).toMatchObject({
      input_tokens: 30,
      cached_input_tokens: 60,
      cache_write_tokens: 10,
      output_tokens: 50,
      reasoning_tokens: 20,
    });
    const beside = { ...usage, total_tokens: 170 };
    expect((await answered(JSON.stringify({ choices: [{}], usage: beside }))).usage).toMatchObject({
      output_tokens: 70,
    });
  });

  test('P12: an explicit zero usage differs from a missing usage', async () => {
    const usageOf = async (usage: unknown) =>
      (await answered(JSON.stringify({ choices: [{}], usage }))).usage;
    expect(await usageOf({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
    });
    for (const missing of [undefined, null, {}, { cost: 1 }, 'none']) {
      expect(await usageOf(missing)).toBeNull();
    }
  });

  test('P12: all produced text can be counted', async () => {
    const message = {
      content: 'a',
      reasoning_content: 'b',
      refusal: 'c',
      tool_calls: [
        { function: { name: 'd', arguments: 'e' } },
        { custom: { name: 'f', input: 'g' } },
      ],
      function_call: { name: 'h', arguments: 'i' },
    };
    const answer = await answered(JSON.stringify({ choices: [{ message }, { message }] }));
    expect([...answer.produced()].sort().join('')).toBe('aabbccddeeffgghhii');
  });

  test('without choices is the upstream’s failure', async () => {
    const failure = async (text: string) => await rejection(answered(text));
    for (const text of ['{"id":"x","choi', '[]', 'null', '<html>', '', '{}', '{"choices":[]}']) {
      expect(await failure(text)).toMatchObject({ failure: 'malformed' });
    }
  });

  test('with an error inside a 200 fails with that error', async () => {
    const failure = async (error: object) =>
      await rejection(answered(JSON.stringify({ error, choices: [] })));
    expect(await failure({ message: 'busy', code: 502 })).toMatchObject({ failure: 'server' });
    expect(await failure({ message: 'slow', type: 'rate_limit_error' })).toMatchObject({
      failure: 'throttle',
    });
    expect(await failure({ message: 'bad', type: 'invalid_request_error' })).toMatchObject({
      error_id: 'invalid_request',
      public_message: 'bad',
    });
  });
});

describe('an OpenAI stream', () => {
  const head = '"object":"chat.completion.chunk","created":7,"model":"physical-9"';
  const chunk = (rest: string) => `data: {"id":"chatcmpl-SIM",${head},${rest}}\n\n`;
  const delta = (content: string, rest = '') =>
    chunk(`"choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]${rest}`);
  const finish = (index = 0, rest = '') =>
    chunk(`"choices":[{"index":${index},"delta":{},"finish_reason":"stop"}]${rest}`);
  const usage = chunk('"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}');
  const DONE = 'data: [DONE]\n\n';
  const NULL = ',"usage":null';
  const ours = (text: string) =>
    text.replaceAll('chatcmpl-SIM', 'answer-of-weir').replaceAll('physical-9', 'gpt-test');

  const read = (pieces: string[], body: object = {}, cut = false) => {
    upstream.answer = () => streamed(pieces, cut);
    const call = callOf(upstream.url, { model: 'gpt-test', stream: true, ...body });
    return readStream(openaiProtocol, call);
  };
  const WITH_USAGE = { stream_options: { include_usage: true } };

  test('P5: has Weir’s id and the public model in every chunk; usage only if the client asked for it', async () => {
    const wire = [delta('a', NULL), delta('b', NULL), finish(0, NULL), usage, DONE];
    const plain = await read(wire);
    expect(plain.text).toBe(ours(delta('a') + delta('b') + finish() + DONE));
    expect(plain.produced).toBe('ab');
    const asked = await read(wire, WITH_USAGE);
    expect(asked.text).toBe(ours(wire.join('')));
    for (const { stream } of [plain, asked]) {
      expect(stream.usage()).toMatchObject({ input_tokens: 3, output_tokens: 2 });
    }
  });

  test('P5: cleans chunks that start differently from the first', async () => {
    const odd = [
      'data: {"id":"","object":"chat.completion.chunk","created":0,"model":"","choices":[],"prompt_filter_results":[]}\n\n',
      delta('a', ',"provider":"Hidden","usage":null'),
      delta('b', ',"usage":null,"obfuscation":"xyz"'),
      'data: {"model" : "physical-9" , "id":"chatcmpl-other","choices":[{"index":0,"delta":{"content":"c"}}],"y":{"model": "physical-9"}}\n\n',
      delta('d', ',"usage":{"note":"\\"usage\\":null"}'),
      delta('e', ',"nested":{"usage":null}'),
    ];
    const { text, produced } = await read([...odd, finish(), DONE]);
    expect(produced).toBe('abcde');
    expect(text).not.toMatch(/SIM|physical|Hidden|chatcmpl-other|provider/);
    expect(text).toContain('"obfuscation":"xyz"');
    expect(text).toContain(',"nested":{"usage":null}}');
    for (const line of text.split('\n').filter((each) => each.startsWith('data: {'))) {
      const value = JSON.parse(line.slice(6));
      expect(value).toMatchObject({ id: 'answer-of-weir', model: 'gpt-test' });
      expect(value).not.toHaveProperty('usage');
    }
  });

  test('P4: marks the events that complete the answer: finish, usage, end', async () => {
    const wire = [delta('a'), finish(), usage, DONE];
    expect((await read(wire)).held).toBe(ours(finish() + DONE));
    expect((await read(wire, WITH_USAGE)).held).toBe(ours(finish() + usage + DONE));
    const two = [delta('a'), finish(0), finish(1), DONE];
    expect((await read(two, { n: 2 })).held).toBe(ours(finish(1) + DONE));
  });

  test('counts all charged text: reasoning, refusals, tools', async () => {
    const said = (text: string) => chunk(`"choices":[{"index":0,"delta":${text}}]`);
    const { produced } = await read([
      said('{"role":"assistant","content":null}'),
      said('{"reasoning_content":"a"}'),
      said('{"reasoning":"b"}'),
      said('{"refusal":"c"}'),
      said('{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"d"}}]}'),
      said('{"tool_calls":[{"index":0,"function":{"arguments":"e"}}]}'),
      finish(),
      DONE,
    ]);
    expect(produced).toBe('abcde');
  });

  test('without [DONE] is complete if it has a finish reason, and Weir adds [DONE]', async () => {
    const { text, error } = await read([delta('a'), finish()]);
    expect(error).toBeUndefined();
    expect(text).toEndWith(DONE);
  });

  test('that breaks is the upstream’s failure, after the events before the break', async () => {
    const ends = { 'a clean end': false, 'a reset': true };
    for (const cut of Object.values(ends)) {
      const { produced, error } = await read([delta('a'), delta('b')], {}, cut);
      expect(produced).toBe('ab');
      expect(error).toMatchObject({ failure: cut ? 'connection' : 'malformed' });
    }
    const half = await read([delta('a'), 'data: {"id":"chatcmpl', '\n\n']);
    expect(half.error).toMatchObject({ failure: 'malformed' });
  });

  test('that has an error event fails with the error in that event', async () => {
    const error = async (text: string) => (await read([delta('a'), text])).error;
    const said = 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n';
    expect(await error(said)).toMatchObject({ failure: 'server' });
    expect(await error('event: error\ndata: {"message":"x"}\n\n')).toMatchObject({
      failure: 'server',
    });
    const quota = '{"error":{"message":"gone","code":"insufficient_quota"}}';
    expect(await error(`data: ${quota}\n\n`)).toMatchObject({ failure: 'auth' });
  });

  test('that is answered with a whole body fails with the error in the body, or as malformed', async () => {
    const failure = async (body: object) => {
      upstream.answer = () => Response.json(body);
      return await rejection(openaiProtocol.stream(callOf(upstream.url, { stream: true })));
    };
    expect(await failure({ error: { message: 'no', code: 429 } })).toMatchObject({
      failure: 'throttle',
    });
    expect(await failure({ choices: [] })).toMatchObject({ failure: 'malformed' });
  });

  test('P2: can be ended cleanly if no money is left', async () => {
    const used = {
      input_tokens: 1,
      cached_input_tokens: 2,
      cache_write_tokens: 3,
      output_tokens: 4,
    };
    const parsed = (text: string) =>
      text
        .split('\n\n')
        .filter((line) => line.startsWith('data: {'))
        .map((line) => JSON.parse(line.slice(6)));
    const { stream } = await read([delta('a'), finish(1)], { n: 2, ...WITH_USAGE });
    const text = stream.endEarly(used);
    expect(text).toEndWith(DONE);
    const common = { id: 'answer-of-weir', object: 'chat.completion.chunk', created: 7 };
    expect(parsed(text)).toEqual([
      { ...common, model: 'gpt-test', choices: [{ index: 0, delta: {}, finish_reason: 'length' }] },
      {
        ...common,
        model: 'gpt-test',
        choices: [],
        usage: {
          prompt_tokens: 6,
          completion_tokens: 4,
          total_tokens: 10,
          prompt_tokens_details: { cached_tokens: 2 },
        },
      },
    ]);
    const plain = await read([delta('a')]);
    expect(parsed(plain.stream.endEarly(used))).toHaveLength(1);
  });

  test('has an error event that the SDKs throw', async () => {
    const { stream } = await read([delta('a')]);
    const error = new WeirError('upstream_error', 'm', { hint: 'h' });
    const members = {
      ...{ message: 'm', type: 'upstream_error', code: 'upstream_error', param: null, hint: 'h' },
      ...{ retryable: true, request_id: 'req_1' },
    };
    const event = `data: ${JSON.stringify({ error: members })}\n\n`;
    expect(stream.errorEvents(error, 'req_1')).toBe(event + DONE);
  });
});
