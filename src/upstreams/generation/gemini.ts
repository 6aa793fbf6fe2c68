import type { ImageInput } from '../../catalogue/inputs.ts';
import { withoutUndefined } from '../../json/object.ts';
import { type GenerationUsage, readGenerationTokens } from '../../protocols/generation-usage.ts';
import { countIn } from '../../protocols/token-usage.ts';
import { RetryableUpstreamError } from '../contract.ts';
import {
  type Failed,
  type GenerationCall,
  type GenerationProtocol,
  LostSubmissionError,
  type UpstreamOutput,
} from './contract.ts';
import { asList, asObject, asText, failed, type JsonObject, submitJob } from './exchange.ts';
import { inlineImage } from './inline-media.ts';

/**
 * Gemini's images (Gemini API docs: Image generation). Each HTTP request returns one image inline,
 * so `submit` sends one request for each image.
 */
export const geminiProtocol: GenerationProtocol = {
  name: 'gemini',
  idempotent: false,

  async submit(call) {
    const { input } = call;
    if (input.scene !== 'image')
      throw new RetryableUpstreamError('server', 'this protocol makes only images');
    const body = await bodyFor(call, input);
    const pictures = await Promise.all(
      Array.from({ length: input.n }, () => onePicture(call, body)),
    );
    const made = pictures.filter((each): each is Picture => !('type' in each));
    const [refused] = pictures.filter((each): each is Failed => 'type' in each);
    if (made.length === 0) return refused ?? failed('no pictures', 'upstream');
    return {
      type: 'produced',
      outputs: made.map(({ output }) => output),
      usage: { images: made.length, ...sumOf(made) },
    };
  },
};

interface Picture {
  readonly output: UpstreamOutput;
  /** Missing if the provider reported no usage, or an impossible one. */
  readonly tokens: GenerationUsage['tokens'];
}

/** Returns the tokens of all pictures; nothing if the tokens of one are not known. */
function sumOf(pictures: readonly Picture[]): Pick<GenerationUsage, 'tokens'> {
  const sum = { text_input: 0, image_input: 0, cached_input: 0, output: 0 };
  for (const { tokens } of pictures) {
    if (!tokens) return {};
    sum.text_input += tokens.text_input;
    sum.image_input += tokens.image_input;
    sum.cached_input += tokens.cached_input;
    sum.output += tokens.output;
  }
  return { tokens: sum };
}

async function onePicture(call: GenerationCall, body: JsonObject): Promise<Picture | Failed> {
  const answer = await submitJob(call, {
    path: `/models/${call.physical_model}:generateContent`,
    headers: { 'x-goog-api-key': call.target.api_key },
    body,
  });
  if ('type' in answer) return answer;
  const { candidates, promptFeedback, usageMetadata } = answer.body;
  // If Gemini refuses the prompt, the status is 200 and the response has no candidates.
  const blocked = asText(asObject(promptFeedback)['blockReason']);
  if (blocked) return failed(blocked, 'moderation');
  const [candidate] = asList(candidates).map(asObject);
  if (!candidate) throw new LostSubmissionError('an answer without candidates');
  const parts = asList(asObject(candidate['content'])['parts']).map(asObject);
  const picture = parts
    .filter((part) => part['thought'] !== true)
    .map((part) => asObject(part['inlineData']))
    .find((data) => asText(data['data']));
  if (!picture) {
    const reason = asText(candidate['finishReason']) ?? 'no picture';
    return failed(
      reason,
      /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION/.test(reason) ? 'moderation' : 'upstream',
    );
  }
  return {
    output: {
      kind: 'image',
      base64: String(picture['data']),
      ...withoutUndefined({ content_type: asText(picture['mimeType']) }),
    },
    tokens: tokensOf(usageMetadata),
  };
}

function tokensOf(usage: unknown): GenerationUsage['tokens'] {
  return readGenerationTokens(usage, (reported) => {
    const details = asList(reported['promptTokensDetails']).map(asObject);
    const images = details.find(({ modality }) => modality === 'IMAGE');
    const image_input = countIn(images, 'tokenCount');
    const cached_input = countIn(reported, 'cachedContentTokenCount');
    return {
      // If the reported parts exceed the reported sum, this count is negative. A negative count
      // makes the whole report impossible.
      text_input: countIn(reported, 'promptTokenCount') - image_input - cached_input,
      image_input,
      cached_input,
      output: countIn(reported, 'candidatesTokenCount') + countIn(reported, 'thoughtsTokenCount'),
    };
  });
}

async function bodyFor({ signal }: GenerationCall, input: ImageInput): Promise<JsonObject> {
  const pictures = await Promise.all((input.images ?? []).map((each) => inlineImage(each, signal)));
  const imageConfig = withoutUndefined({
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
    generationConfig: withoutUndefined({
      responseModalities: ['TEXT', 'IMAGE'],
      seed: input.seed,
      imageConfig: Object.keys(imageConfig).length > 0 ? imageConfig : undefined,
    }),
  };
}
