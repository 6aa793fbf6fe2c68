/**
 * Tests which images, documents and audio reach each chat model. The judges are the providers'
 * packages of the AI SDK, which say what they pass on by URL (`supportedUrls`) and which inline files
 * they send. A generated test sends every medium from every client protocol to every model on every
 * protocol of channels: it arrives whole, or is refused by the client's own name for it.
 */
import { describe, expect, test } from 'bun:test';
import { createAmazonBedrockAnthropic } from '@ai-sdk/amazon-bedrock/anthropic';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createVertex } from '@ai-sdk/google-vertex';
import { createOpenAI } from '@ai-sdk/openai';
import { abilitiesOn } from '../../../src/catalogue/abilities.ts';
import { FAMILY_PROTOCOLS } from '../../../src/catalogue/families.ts';
import {
  type ChatProtocol,
  CLIENT_PROTOCOLS,
  type ClientProtocol,
  isChatProtocol,
} from '../../../src/protocols/names.ts';
import { bedrockRefusal } from '../../../src/upstreams/chat/bedrock-limits.ts';
import { requestProtocolOf } from '../../../src/upstreams/chat/protocols.ts';
import { readRequest } from '../../../src/upstreams/translation/translate.ts';
import { CHAT_MODELS, type Json, refusedParameter, sentBy, sentByWeir } from './chat-models.ts';

/** Each package's model for a protocol of channels. */
const OPTIONS = { apiKey: 'key' };
type Fetch = typeof globalThis.fetch;
const PACKAGES: Partial<Record<ChatProtocol, (id: string, fetch?: Fetch) => SdkModel>> = {
  openai: (id, fetch) => createOpenAI({ ...OPTIONS, ...(fetch && { fetch }) }).chat(id),
  'openai-responses': (id, fetch) =>
    createOpenAI({ ...OPTIONS, ...(fetch && { fetch }) }).responses(id),
  anthropic: (id, fetch) => createAnthropic({ ...OPTIONS, ...(fetch && { fetch }) })(id),
  bedrock: (id, fetch) =>
    createAmazonBedrockAnthropic({
      ...{ ...OPTIONS, region: 'us-east-1', baseURL: 'https://bedrock.example.com' },
      ...(fetch && { fetch }),
    })(`anthropic.${id}`),
  gemini: (id, fetch) => createGoogleGenerativeAI({ ...OPTIONS, ...(fetch && { fetch }) })(id),
  vertex: (id, fetch) => createVertex({ ...OPTIONS, ...(fetch && { fetch }) })(id),
};
interface SdkModel {
  readonly supportedUrls: PromiseLike<Record<string, RegExp[]>> | Record<string, RegExp[]>;
  doGenerate: (options: never) => PromiseLike<unknown>;
}

const OWN_PROTOCOLS: Readonly<Record<string, readonly ChatProtocol[]>> = {
  openai: ['openai', 'openai-responses'],
  anthropic: ['anthropic', 'bedrock'],
  google: ['gemini', 'vertex'],
};
const OWN = CHAT_MODELS.flatMap(({ id, owned_by }) =>
  (OWN_PROTOCOLS[owned_by] ?? []).map((protocol) => ({ id, protocol })),
);

/** The base64 of `name` stands for a file. */
const data = (name: string) => Buffer.from(name).toString('base64');
const TYPES: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' },
  ...{ heic: 'image/heic', bmp: 'image/bmp', pdf: 'application/pdf', csv: 'text/csv' },
  ...{ txt: 'text/plain', wav: 'audio/wav', mp3: 'audio/mpeg' },
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};
const isImage = (ending: string) => TYPES[ending]?.startsWith('image/') === true;

/** A request of a client with a file, and the client's name for the file; undefined if it has none. */
function requestWith(
  client: ClientProtocol,
  ending: string,
  how: 'inline' | 'url',
): { body: Json; param: string } | undefined {
  const type = TYPES[ending] ?? '';
  const url = how === 'url' ? `https://example.com/a.${ending}` : undefined;
  const uri = `data:${type};base64,${data(ending)}`;
  const isAudio = type.startsWith('audio/');
  switch (client) {
    case 'openai': {
      if (url && !isImage(ending)) return undefined;
      const part = isImage(ending)
        ? { type: 'image_url', image_url: { url: url ?? uri } }
        : isAudio
          ? { type: 'input_audio', input_audio: { data: data(ending), format: ending } }
          : { type: 'file', file: { filename: `a.${ending}`, file_data: uri } };
      return {
        body: { messages: [{ role: 'user', content: [part] }] },
        param: part.type === 'file' ? 'messages[0].content[0].file' : 'messages[0].content[0]',
      };
    }
    case 'responses': {
      if (isAudio) return undefined;
      const part = isImage(ending)
        ? { type: 'input_image', image_url: url ?? uri }
        : { type: 'input_file', ...(url ? { file_url: url } : { filename: 'a', file_data: uri }) };
      return { body: { input: [{ role: 'user', content: [part] }] }, param: 'input[0].content[0]' };
    }
    case 'anthropic': {
      if (isAudio || (url && !isImage(ending) && ending !== 'pdf')) return undefined;
      const source = url
        ? { type: 'url', url }
        : { type: 'base64', media_type: type, data: data(ending) };
      const block = { type: isImage(ending) ? 'image' : 'document', source };
      const messages = [{ role: 'user', content: [block] }];
      return { body: { max_tokens: 9, messages }, param: 'messages.0.content.0' };
    }
    case 'gemini': {
      if (isAudio && url) return undefined;
      const part = url
        ? { fileData: { mimeType: type, fileUri: url } }
        : { inlineData: { mimeType: type, data: data(ending) } };
      return { body: { contents: [{ parts: [part] }] }, param: 'contents[0].parts[0]' };
    }
    default:
      return client satisfies never;
  }
}

/** True if Weir sends a file of a client to a model; false if it refuses it by its name. */
function takes(
  id: string,
  client: ClientProtocol,
  protocol: ChatProtocol,
  { body, param }: { body: Json; param: string },
  find: string,
): boolean {
  let sent: Json = {};
  const model = CHAT_MODELS.find((each) => each.id === id);
  const names = { physical_model: id, public_model: id };
  const refused = refusedParameter(() => {
    const abilities = abilitiesOn(model?.abilities, protocol);
    const uses = () => readRequest(client, body).uses;
    const lacks =
      protocol === 'bedrock'
        ? bedrockRefusal({ client, body }, { ...names, abilities }, uses)
        : undefined;
    if (lacks) throw lacks;
    sent = sentByWeir(id, client, protocol, body);
  });
  if (refused !== undefined) expect(refused).toStartWith(param.split(/[.[]/)[0] ?? '');
  if (refused !== undefined) expect(refused.startsWith(param)).toBe(true);
  else expect(JSON.stringify(sent)).toContain(find);
  return refused === undefined;
}

/**
 * Types that a package passes on without a look at them, and that the provider's documentation does
 * not list: Anthropic docs, Vision; OpenAI docs, Images; Gemini API docs, Image understanding.
 */
function isUnlisted(protocol: ChatProtocol, ending: string): boolean {
  if (ending === 'gif') return protocol === 'gemini' || protocol === 'vertex';
  return ending === 'bmp' && protocol !== 'gemini';
}

/** Types that the package leaves out, and the documentation lists: OpenAI docs, File inputs. */
const isListed = (protocol: ChatProtocol, ending: string) =>
  protocol === 'openai-responses' && ending === 'csv';

describe.each(OWN)('$id on $protocol', ({ id, protocol }) => {
  const packaged = PACKAGES[protocol];

  test('the package passes on the same files by URL', async () => {
    const supported = (await packaged?.(id).supportedUrls) ?? {};
    const client: ClientProtocol =
      protocol === 'gemini' || protocol === 'vertex' ? 'responses' : 'gemini';
    for (const ending of ['png', 'jpg', 'webp', 'gif', 'bmp', 'pdf', 'csv']) {
      const url = `https://example.com/a.${ending}`;
      const type = TYPES[ending] ?? '';
      const byPackage = Object.entries(supported).some(
        ([pattern, urls]) =>
          (pattern === '*' || pattern === type || pattern === `${type.split('/')[0]}/*`) &&
          urls.some((each) => each.test(url)),
      );
      const request = requestWith(client, ending, 'url');
      if (!request) throw new Error('no request');
      const byWeir = takes(id, client, protocol, request, url);
      const expected = isListed(protocol, ending) || (byPackage && !isUnlisted(protocol, ending));
      expect({ ending, byWeir }).toEqual({ ending, byWeir: expected });
    }
  });

  test('the package sends the same inline files', async () => {
    const client: ClientProtocol =
      protocol === 'gemini' || protocol === 'vertex' ? 'openai' : 'gemini';
    for (const ending of ['png', 'jpg', 'webp', 'gif', 'pdf', 'wav', 'mp3', 'docx']) {
      const file = { type: 'data', data: new TextEncoder().encode(ending) };
      const content = [{ type: 'file', mediaType: TYPES[ending], data: file }];
      const sdk = await sentBy((fetch) => (packaged as NonNullable<typeof packaged>)(id, fetch), {
        prompt: [{ role: 'user', content }],
      });
      const byPackage = JSON.stringify(sdk).includes(data(ending));
      const request = requestWith(client, ending, 'inline');
      if (!request) throw new Error('no request');
      const byWeir = takes(id, client, protocol, request, data(ending));
      // The packages do not know which models hear, and that OpenAI's responses read offices.
      const isHeard = byPackage && !(TYPES[ending]?.startsWith('audio/') && protocol === 'openai');
      const isRead = ending === 'docx' ? protocol === 'openai-responses' : isHeard;
      const isSeen = ending === 'gif' && isUnlisted(protocol, ending) ? false : isRead;
      expect({ ending, byWeir }).toEqual({ ending, byWeir: isSeen });
    }
  });
});

describe('from every client to every model on every protocol: arrives, or is refused by name', () => {
  const pairs = CHAT_MODELS.flatMap(({ id, family }) =>
    FAMILY_PROTOCOLS[family].filter(isChatProtocol).flatMap((protocol) =>
      CLIENT_PROTOCOLS.filter((client) => requestProtocolOf(protocol) !== client).map((client) => ({
        ...{ id, protocol, client },
      })),
    ),
  );
  test.each(pairs)('$client on $id ($protocol)', ({ id, protocol, client }) => {
    for (const ending of Object.keys(TYPES)) {
      for (const how of ['inline', 'url'] as const) {
        const request = requestWith(client, ending, how);
        if (!request) continue;
        const isText = how === 'inline' && TYPES[ending]?.startsWith('text/');
        const whole = how === 'url' ? `https://example.com/a.${ending}` : data(ending);
        // Text may be sent as text.
        const find =
          isText && requestProtocolOf(protocol) !== 'gemini' && protocol !== 'openai-responses'
            ? ending
            : whole;
        takes(id, client, protocol, request, find);
      }
    }
  });
});

test('a URL without an ending is sent, but not to Gemini, which needs the type', () => {
  const content = [{ type: 'image_url', image_url: { url: 'https://example.com/photo' } }];
  const body = { messages: [{ role: 'user', content }] };
  const refused = (id: string, protocol: ChatProtocol) =>
    refusedParameter(() => sentByWeir(id, 'openai', protocol, body));
  expect(refused('claude-opus-4-6', 'anthropic')).toBeUndefined();
  expect(refused('gpt-4o', 'openai-responses')).toBeUndefined();
  expect(refused('gemini-3.5-flash', 'gemini')).toBe('messages[0].content[0]');
});

test('other names of a type are the same type', () => {
  const image = { inlineData: { mimeType: 'image/JPG', data: data('jpg') } };
  const sound = { inlineData: { mimeType: 'audio/x-wav', data: data('wav') } };
  const sent = sentByWeir('claude-opus-4-6', 'gemini', 'anthropic', {
    contents: [{ parts: [image] }],
  });
  expect(sent['messages'][0].content[0].source.media_type).toBe('image/jpeg');
  const heard = sentByWeir('gemini-3.5-flash', 'openai', 'gemini', {
    messages: [
      {
        role: 'user',
        content: [{ type: 'input_audio', input_audio: { data: data('mp3'), format: 'mpeg' } }],
      },
    ],
  });
  expect(heard['contents'][0].parts[0].inlineData.mimeType).toBe('audio/mp3');
  expect(
    readRequest('gemini', { contents: [{ parts: [sound] }] }).request.turns[0]?.parts[0],
  ).toEqual({
    ...{ type: 'audio', format: 'wav', data: data('wav') },
  });
});
