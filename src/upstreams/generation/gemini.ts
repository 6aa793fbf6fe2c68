import type { ImageInput } from '../../catalogue/inputs.ts';
import { count } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type Failed,
  type GenerationCall,
  type GenerationProtocol,
  LostSubmissionError,
  type UpstreamOutput,
} from './contract.ts';
import { failed, given, type Json, listOf, objectOf, submitJob, textOf } from './exchange.ts';
import { inlineImage } from './inline-media.ts';

/** Gemini's pictures, answered inline, one a call (Gemini API docs: Image generation). */
export const geminiProtocol: GenerationProtocol = {
  name: 'gemini',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'image')
      throw new RetryableUpstreamError('server', 'only pictures are made here');
    const body = await bodyFor(call, input);
    const pictures = await Promise.all(
      Array.from({ length: input.n }, () => onePicture(call, body)),
    );
    const made = pictures.filter((each): each is Picture => !('type' in each));
    const [refused] = pictures.filter((each): each is Failed => 'type' in each);
    if (made.length === 0) return refused ?? failed('no pictures', 'upstream');
    const tokens = made.map((each) => each.tokens);
    const sum = (key: keyof (typeof tokens)[number]) =>
      tokens.reduce((all, each) => all + each[key], 0);
    return {
      type: 'produced',
      outputs: made.map(({ output }) => output),
      usage: {
        images: made.length,
        tokens: {
          text_input: sum('text_input'),
          image_input: sum('image_input'),
          cached_input: sum('cached_input'),
          output: sum('output'),
        },
      },
    };
  },
};

interface Picture {
  readonly output: UpstreamOutput;
  readonly tokens: {
    text_input: number;
    image_input: number;
    cached_input: number;
    output: number;
  };
}

async function onePicture(call: GenerationCall, body: Json): Promise<Picture | Failed> {
  const answer = await submitJob(call, {
    path: `/models/${call.physical_model}:generateContent`,
    headers: { 'x-goog-api-key': call.target.api_key },
    body,
  });
  if ('type' in answer) return answer;
  const { candidates, promptFeedback, usageMetadata } = answer.body;
  // Refused without an error: a 200 without candidates (upstreams 0.2, 1).
  const blocked = textOf(objectOf(promptFeedback)['blockReason']);
  if (blocked) return failed(blocked, 'moderation');
  const [candidate] = listOf(candidates).map(objectOf);
  if (!candidate) throw new LostSubmissionError('an answer without candidates');
  const parts = listOf(objectOf(candidate['content'])['parts']).map(objectOf);
  const picture = parts
    .filter((part) => part['thought'] !== true)
    .map((part) => objectOf(part['inlineData']))
    .find((data) => textOf(data['data']));
  if (!picture) {
    const reason = textOf(candidate['finishReason']) ?? 'no picture';
    return failed(
      reason,
      /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION/.test(reason) ? 'moderation' : 'upstream',
    );
  }
  return {
    output: {
      kind: 'image',
      base64: String(picture['data']),
      ...given({ content_type: textOf(picture['mimeType']) }),
    },
    tokens: tokensOf(objectOf(usageMetadata)),
  };
}

function tokensOf(usage: Json): Picture['tokens'] {
  const details = listOf(usage['promptTokensDetails']).map(objectOf);
  const image_input = count(details.find(({ modality }) => modality === 'IMAGE')?.['tokenCount']);
  const cached_input = count(usage['cachedContentTokenCount']);
  const prompt = count(usage['promptTokenCount']);
  return {
    text_input: Math.max(0, prompt - image_input - cached_input),
    image_input,
    cached_input,
    output: count(usage['candidatesTokenCount']) + count(usage['thoughtsTokenCount']),
  };
}

async function bodyFor({ signal }: GenerationCall, input: ImageInput): Promise<Json> {
  const pictures = await Promise.all((input.images ?? []).map((each) => inlineImage(each, signal)));
  const imageConfig = given({
    aspectRatio: input.aspect_ratio,
    imageSize: input.resolution?.toUpperCase(),
  });
  return {
    contents: [
      {
        role: 'user',
        parts: [
          { text: input.prompt },
          ...pictures.map(({ mime_type, base64 }) => ({
            inlineData: { mimeType: mime_type, data: base64 },
          })),
        ],
      },
    ],
    generationConfig: given({
      responseModalities: ['TEXT', 'IMAGE'],
      seed: input.seed,
      imageConfig: Object.keys(imageConfig).length > 0 ? imageConfig : undefined,
    }),
  };
}
