/** A first call in one language. */
export interface Snippet {
  readonly name: string;
  readonly code: string;
}

interface SnippetParts {
  /** The origin of Weir, e.g. `https://weir.example.com`. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
}

/** The first call with a key: for a terminal, and with the packages of OpenAI and Anthropic. */
export function snippetsOf({ origin, key, model }: SnippetParts): Snippet[] {
  const prompt = 'Say hello in one word.';
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: prompt }] });
  return [
    {
      name: 'curl',
      code: [
        `curl ${origin}/v1/chat/completions \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        `  -H "Content-Type: application/json" \\`,
        `  -d '${body}'`,
      ].join('\n'),
    },
    {
      name: 'Python',
      code: [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${origin}/v1", api_key="${key}")`,
        'answer = client.chat.completions.create(',
        `    model="${model}",`,
        `    messages=[{"role": "user", "content": "${prompt}"}],`,
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n'),
    },
    {
      name: 'TypeScript',
      code: [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: '${origin}/v1', apiKey: '${key}' });`,
        'const answer = await client.chat.completions.create({',
        `  model: '${model}',`,
        `  messages: [{ role: 'user', content: '${prompt}' }],`,
        '});',
        'console.log(answer.choices[0]?.message.content);',
      ].join('\n'),
    },
    {
      name: 'Anthropic',
      code: [
        "import Anthropic from '@anthropic-ai/sdk';",
        '',
        `const client = new Anthropic({ baseURL: '${origin}', apiKey: '${key}' });`,
        'const answer = await client.messages.create({',
        `  model: '${model}',`,
        '  max_tokens: 256,',
        `  messages: [{ role: 'user', content: '${prompt}' }],`,
        '});',
        'console.log(answer.content);',
      ].join('\n'),
    },
  ];
}
