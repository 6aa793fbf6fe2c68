/**
 * Requests with everything that moves a bill, for fast-check: limits of the output under several
 * names, in odd forms, repeated and with escaped names; numbers of answers; media; caches; tools.
 */

import type { ClientProtocol } from '../../../src/protocols/names.ts';
import { fc } from '../../support/property.ts';

export interface Draft {
  /** The JSON text of the body. */
  text: string;
  headers: Record<string, string>;
}

/** A PNG of 1 × 1 pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
const PDF = 'JVBERi0xLjQK';

/** A member as JSON text: its quoted name and its value. */
type Member = [name: string, value: string];

const limitValue = fc.oneof(
  fc.integer({ min: 1, max: 200_000 }).map(String),
  fc.constantFrom('1', '1e5', '20000.0', '2e4', 'null', '0', '1e30', '99999999999999999999'),
);
const oddValue = fc.oneof(
  { weight: 5, arbitrary: limitValue },
  { weight: 1, arbitrary: fc.constantFrom('"20000"', '-1', '1.5', 'true', '"x"') },
);
const countValue = fc.oneof(
  fc.integer({ min: 1, max: 8 }).map(String),
  fc.constantFrom('null', '8.0', '"8"', '8e0'),
);

/** Escapes one letter of a name, as a careless or hostile client might do. */
const named = (name: string) =>
  fc
    .tuple(fc.nat({ max: name.length - 1 }), fc.nat({ max: 9 }))
    .map(([at, luck]) =>
      luck > 0
        ? JSON.stringify(name)
        : `"${name.slice(0, at)}\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}${name.slice(at + 1)}"`,
    );

const member = (name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Member> =>
  fc.tuple(named(name), value);

const objectText = (members: readonly Member[]) =>
  `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`;

/** Each member is there, repeated, or missing; in any order. */
const someOf = (...members: fc.Arbitrary<Member>[]) =>
  fc.array(fc.oneof(...members), { maxLength: 4 });

const config = fc
  .tuple(
    fc.constantFrom('generationConfig', 'generation_config'),
    someOf(
      member('maxOutputTokens', oddValue),
      member('max_output_tokens', oddValue),
      member('candidateCount', countValue),
      member('candidate_count', countValue),
      member('thinkingConfig', fc.constant('{"thinkingBudget":24576}')),
    ),
  )
  .chain(([name, members]) => member(name, fc.constant(objectText(members))));

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('', 'Hi', '漢字'.repeat(30), '\u0001'.repeat(20)),
);
const json = (value: unknown) => fc.constant(JSON.stringify(value));
const cacheControl = fc.constantFrom(
  {},
  { cache_control: { type: 'ephemeral' } },
  { cache_control: { type: 'ephemeral', ttl: '1h' } },
);

const chatPart = fc.oneof(
  text.map((each) => ({ type: 'text', text: each })),
  fc.constantFrom(
    { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}`, detail: 'original' } },
    { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
    { type: 'file', file: { file_id: 'file-1' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
  ),
);
const messagesPart = fc.oneof(
  fc.tuple(text, cacheControl).map(([each, cache]) => ({ type: 'text', text: each, ...cache })),
  fc.constantFrom(
    { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } },
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Long text' } },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
    {
      type: 'tool_result',
      tool_use_id: 'a',
      content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
    },
  ),
);
const responsesPart = fc.oneof(
  text.map((each) => ({ type: 'input_text', text: each })),
  fc.constantFrom(
    { type: 'input_image', image_url: 'https://a.example/b.png' },
    { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
    { type: 'input_image', file_id: 'file-1' },
    { type: 'input_file', file_url: 'https://a.example/b.pdf' },
    { type: 'input_file', filename: 'a', file_data: `data:application/pdf;base64,${PDF}` },
  ),
);
const geminiPart = fc.oneof(
  text.map((each) => ({ text: each })),
  fc.constantFrom(
    { inlineData: { mimeType: 'image/png', data: PNG } },
    { inline_data: { mime_type: 'image/png', data: PNG } },
    { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
    { inline_data: { mime_type: 'application/pdf', data: PDF } },
    { fileData: { mimeType: 'video/mp4', fileUri: 'https://youtu.be/x' } },
    { file_data: { mime_type: 'image/png', file_uri: 'files/x' } },
  ),
);

const listText = (parts: fc.Arbitrary<unknown>) =>
  fc.array(parts, { minLength: 1, maxLength: 3 }).map((list) => JSON.stringify(list));

/** All names of limits and counts at the top level, in the protocol where they belong or not. */
const anyLimits = [
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens'].map((name) =>
    member(name, limitValue),
  ),
  ...['n', 'best_of'].map((name) => member(name, countValue)),
];

const chatMembers = fc.tuple(
  listText(chatPart).map(
    (parts): Member => ['"messages"', `[{"role":"user","name":"Ann","content":${parts}}]`],
  ),
  someOf(
    ...anyLimits,
    member('prediction', json({ type: 'content', content: 'x'.repeat(500) })),
    member('tools', json([{ type: 'function', function: { name: 'f' } }])),
    member('web_search_options', json({ search_context_size: 'high' })),
    member('reasoning_effort', json('high')),
    config,
  ),
);
const messagesMembers = fc.tuple(
  listText(messagesPart).map(
    (parts): Member => ['"messages"', `[{"role":"user","content":${parts}}]`],
  ),
  fc
    .tuple(
      member('max_tokens', limitValue),
      someOf(
        ...anyLimits,
        member('thinking', json({ type: 'enabled', budget_tokens: 30_000 })),
        member('system', listText(messagesPart)),
        member('tools', json([{ name: 'f', input_schema: { type: 'object' } }])),
        member('tools', json([{ type: 'web_search_20250305', name: 'web_search' }])),
        member('mcp_servers', json([{ type: 'url', url: 'https://m.example', name: 'm' }])),
        member('container', json('container_1')),
      ),
    )
    .map(([limit, others]) => [limit, ...others]),
);
const responsesMembers = fc.tuple(
  listText(responsesPart).map(
    (parts): Member => ['"input"', `[{"role":"user","content":${parts}}]`],
  ),
  someOf(
    ...anyLimits,
    member('reasoning', json({ effort: 'high' })),
    member('prompt', json({ id: 'pmpt_1' })),
    member('conversation', json('conv_1')),
    member('tools', json([{ type: 'function', name: 'f', parameters: {} }])),
    member('tools', json([{ type: 'file_search', vector_store_ids: ['v'] }])),
    member(
      'instructions',
      text.map((each) => JSON.stringify(each)),
    ),
  ),
);
const geminiMembers = fc.tuple(
  listText(geminiPart).map((parts): Member => ['"contents"', `[{"role":"user","parts":${parts}}]`]),
  someOf(
    ...anyLimits.slice(0, 3),
    config,
    config,
    config,
    member('system_instruction', json({ parts: [{ text: 'Be brief.' }] })),
    member('cachedContent', json('cachedContents/x')),
    member('tools', json([{ googleSearch: {} }])),
    member('tools', json([{ function_declarations: [{ name: 'f' }] }])),
  ),
);

const MEMBERS: Record<ClientProtocol, fc.Arbitrary<[Member, Member[]]>> = {
  openai: chatMembers,
  anthropic: messagesMembers,
  responses: responsesMembers,
  gemini: geminiMembers,
};

/** Requests of one client protocol. Some of them are not valid. */
export function requestTexts(client: ClientProtocol): fc.Arbitrary<Draft> {
  const beta = client === 'anthropic' ? ['', 'context-1m-2025-08-07'] : [''];
  return fc.tuple(MEMBERS[client], fc.constantFrom(...beta)).map(([[content, others], header]) => ({
    text: objectText([['"model"', '"any"'], content, ...others]),
    headers: header === '' ? {} : { 'anthropic-version': '2023-06-01', 'anthropic-beta': header },
  }));
}
