/**
 * The same call in the languages of programs. `$WEIR_KEY` stands for an API key, which no page knows.
 */

/** A call that a snippet shows. */
export interface ShownCall {
  /** What the call makes. */
  readonly scene: 'chat' | 'image' | 'video' | 'music' | '3d' | 'audio' | 'tts' | 'stt' | 'other';
  /** The path, e.g. `/v1/chat/completions`. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A program or package that sends calls. */
export const LANGUAGES = ['curl', 'openai (js)', 'openai (python)', 'anthropic', 'ai-sdk'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Returns the call in a language; undefined if the package of the language has no such call. */
export function snippetOf(language: Language, call: ShownCall, origin: string): string | undefined {
  switch (language) {
    case 'curl':
      return curl(call, origin);
    case 'openai (js)':
      return openaiJs(call, origin);
    case 'openai (python)':
      return openaiPython(call, origin);
    case 'anthropic':
      return call.scene === 'chat' ? anthropic(call, origin) : undefined;
    case 'ai-sdk':
      return aiSdk(call, origin);
    default:
      return language satisfies never;
  }
}

function curl({ path, body, scene }: ShownCall, origin: string): string {
  if (scene === 'stt') {
    return [
      `curl '${origin}${path}' \\`,
      `  -H "Authorization: Bearer $WEIR_KEY" \\`,
      ...Object.entries(body).map(([name, value]) => `  -F ${name}='${value}' \\`),
      '  -F file=@speech.mp3',
    ].join('\n');
  }
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  const isFile = scene === 'tts';
  return [
    `curl ${body['stream'] === true ? '-N ' : ''}'${origin}${path}' \\`,
    `  -H "Authorization: Bearer $WEIR_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${json}'${isFile ? ` \\\n  --output speech.${formatOf(body)}` : ''}`,
  ].join('\n');
}

const formatOf = (body: ShownCall['body']) => String(body['response_format'] ?? 'mp3');

function openaiJs({ path, body, scene }: ShownCall, origin: string): string {
  const start = [
    `import OpenAI from 'openai';`,
    '',
    `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: process.env.WEIR_KEY });`,
  ];
  const value = js(body);
  switch (scene) {
    case 'chat':
      return body['stream'] === true
        ? [
            ...start,
            `const stream = await client.chat.completions.create(${value});`,
            `for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
          ].join('\n')
        : [
            ...start,
            `const answer = await client.chat.completions.create(${value});`,
            'console.log(answer.choices[0].message.content);',
          ].join('\n');
    case 'image':
      return [
        ...start,
        `const answer = await client.images.generate(${value});`,
        'console.log(answer);',
      ].join('\n');
    case 'stt':
      return [
        `import { createReadStream } from 'node:fs';`,
        ...start,
        `const answer = await client.audio.transcriptions.create({`,
        `  file: createReadStream('speech.mp3'),`,
        ...Object.entries(body).map(([name, each]) => `  ${name}: ${JSON.stringify(each)},`),
        '});',
        'console.log(answer);',
      ].join('\n');
    case 'tts':
      return [
        `import { writeFile } from 'node:fs/promises';`,
        ...start,
        `const answer = await client.audio.speech.create(${value});`,
        `await writeFile('speech.${formatOf(body)}', Buffer.from(await answer.arrayBuffer()));`,
      ].join('\n');
    default:
      return [
        ...start,
        `const answer = await client.post('${path.replace(/^\/v1/, '')}', { body: ${value} });`,
        'console.log(answer);',
      ].join('\n');
  }
}

function openaiPython({ path, body, scene }: ShownCall, origin: string): string {
  const start = [
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${origin}/v1", api_key=os.environ["WEIR_KEY"])`,
  ];
  const given = Object.entries(body)
    .map(([name, value]) => `    ${name}=${python(value, 1)},`)
    .join('\n');
  switch (scene) {
    case 'chat':
      return body['stream'] === true
        ? [
            ...start,
            `stream = client.chat.completions.create(\n${given}\n)`,
            'for chunk in stream:',
            '    if chunk.choices:',
            '        print(chunk.choices[0].delta.content or "", end="")',
          ].join('\n')
        : [
            ...start,
            `answer = client.chat.completions.create(\n${given}\n)`,
            'print(answer.choices[0].message.content)',
          ].join('\n');
    case 'image':
      return [...start, `answer = client.images.generate(\n${given}\n)`, 'print(answer)'].join(
        '\n',
      );
    case 'stt':
      return [
        ...start,
        `answer = client.audio.transcriptions.create(\n    file=open("speech.mp3", "rb"),\n${given}\n)`,
        'print(answer)',
      ].join('\n');
    case 'tts':
      return [
        ...start,
        `answer = client.audio.speech.create(\n${given}\n)`,
        `answer.write_to_file("speech.${formatOf(body)}")`,
      ].join('\n');
    default:
      return [
        ...start,
        `answer = client.post("${path.replace(/^\/v1/, '')}", body=${python(body, 0)}, cast_to=object)`,
        'print(answer)',
      ].join('\n');
  }
}

/** The largest answer of a snippet that names no limit, tokens. Anthropic's API needs one. */
const STANDARD_MAX_TOKENS = 1_024;

function anthropic({ body }: ShownCall, origin: string): string {
  const { messages, max_tokens, max_completion_tokens, stream, ...rest } = body as {
    messages?: { role: string; content: unknown }[];
  } & Record<string, unknown>;
  const system = messages?.find(({ role }) => role === 'system')?.content;
  const { model, temperature } = rest;
  const value = js({
    model,
    max_tokens: max_tokens ?? max_completion_tokens ?? STANDARD_MAX_TOKENS,
    ...(system === undefined ? {} : { system }),
    messages: messages?.filter(({ role }) => role !== 'system'),
    ...(temperature === undefined ? {} : { temperature }),
  });
  const start = [
    `import Anthropic from '@anthropic-ai/sdk';`,
    '',
    `const client = new Anthropic({ baseURL: '${origin}', apiKey: process.env.WEIR_KEY });`,
  ];
  return stream === true
    ? [
        ...start,
        `const stream = client.messages.stream(${value});`,
        `stream.on('text', (text) => process.stdout.write(text));`,
        'await stream.finalMessage();',
      ].join('\n')
    : [
        ...start,
        `const answer = await client.messages.create(${value});`,
        'console.log(answer.content);',
      ].join('\n');
}

function aiSdk({ body, scene }: ShownCall, origin: string): string | undefined {
  const model = JSON.stringify(body['model']);
  const provider = (functions: string) => [
    `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';`,
    `import { ${functions} } from 'ai';`,
    '',
    `const weir = createOpenAICompatible({`,
    `  name: 'weir',`,
    `  baseURL: '${origin}/v1',`,
    '  apiKey: process.env.WEIR_KEY,',
    '});',
  ];
  if (scene === 'chat') {
    const { temperature, max_tokens, max_completion_tokens } = body;
    const messages = body['messages'] as { role: string; content: unknown }[] | undefined;
    const limit = max_tokens ?? max_completion_tokens;
    const instructions = messages?.find(({ role }) => role === 'system')?.content;
    const given = js({
      ...(instructions === undefined ? {} : { instructions }),
      messages: messages?.filter(({ role }) => role !== 'system'),
      ...(temperature === undefined ? {} : { temperature }),
      ...(limit === undefined ? {} : { maxOutputTokens: limit }),
    }).replace(/^\{\n/, `{\n  model: weir(${model}),\n`);
    return body['stream'] === true
      ? [
          ...provider('streamText'),
          `const { textStream } = streamText(${given});`,
          'for await (const text of textStream) process.stdout.write(text);',
        ].join('\n')
      : [
          ...provider('generateText'),
          `const { text } = await generateText(${given});`,
          'console.log(text);',
        ].join('\n');
  }
  if (scene === 'image') {
    const { prompt, n, size } = body;
    const given = js({
      prompt,
      ...(n === undefined ? {} : { n }),
      ...(size === undefined ? {} : { size }),
    }).replace(/^\{\n/, `{\n  model: weir.imageModel(${model}),\n`);
    return [
      ...provider('generateImage'),
      `const { images } = await generateImage(${given});`,
      'console.log(images.length);',
    ].join('\n');
  }
  return undefined;
}

/** A value in JavaScript. Names that need no quotes have none. */
function js(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:');
}

/** A value in Python. */
function python(value: unknown, depth: number): string {
  const indent = '    '.repeat(depth + 1);
  const end = '    '.repeat(depth);
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (Array.isArray(value)) {
    const items = value.map((each) => `${indent}${python(each, depth + 1)},`).join('\n');
    return items === '' ? '[]' : `[\n${items}\n${end}]`;
  }
  if (typeof value === 'object') {
    const members = Object.entries(value)
      .map(([name, each]) => `${indent}${JSON.stringify(name)}: ${python(each, depth + 1)},`)
      .join('\n');
    return members === '' ? '{}' : `{\n${members}\n${end}}`;
  }
  return JSON.stringify(value);
}
