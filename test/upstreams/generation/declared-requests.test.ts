/**
 * What Weir sends to a provider has the type that the provider's own package declares for the endpoint:
 * every model of the catalogue, every kind of input, every value of every parameter. The compiler
 * checks each body as a literal, so an unknown member is an error too.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { GenerationInput } from '../../../src/catalogue/inputs.ts';
import type { GenerationProtocolName } from '../../../src/protocols/names.ts';
import { unsentParameter } from '../../../src/upstreams/generation/sent-parameters.ts';
import {
  type DeclaredImports,
  type DeclaredValue,
  typeErrors,
} from '../../support/declared-types.ts';
import {
  acceptOrRefuse,
  bodiesOf,
  differentValues,
  MODEL_PROTOCOLS,
} from '../../support/generation-bodies.ts';
import {
  type OutgoingRecorder,
  physicalModel,
  startOutgoingRecorder,
} from '../../support/outgoing.ts';
import { WITNESSES } from './witnesses.ts';

setDefaultTimeout(120_000);

/** The members of the SDK's `config` that go to `generationConfig` (@google/genai: converters). */
const GEMINI_CONFIG = "Pick<GenerateContentConfig, 'responseModalities' | 'seed' | 'imageConfig'>";

/** Which type the body of a request to a path has, per protocol. */
const DECLARATIONS: Partial<
  Record<GenerationProtocolName, { typeOf(path: string): string; imports: DeclaredImports }>
> = {
  runway: {
    typeOf: (path) => RUNWAY_TYPES[path] ?? 'never',
    imports: {
      'node_modules/@runwayml/sdk/resources/text-to-video': ['TextToVideoCreateParams'],
      'node_modules/@runwayml/sdk/resources/image-to-video': ['ImageToVideoCreateParams'],
      'node_modules/@runwayml/sdk/resources/video-to-video': ['VideoToVideoCreateParams'],
      'node_modules/@runwayml/sdk/resources/character-performance': [
        'CharacterPerformanceCreateParams',
      ],
    },
  },
  'openai-images': {
    // An edit is a form, and the package declares no form.
    typeOf: () => 'ImageGenerateParams',
    imports: { 'node_modules/openai/resources/images': ['ImageGenerateParams'] },
  },
  'azure-images': {
    // An edit is a form, and the package declares no form.
    typeOf: () => 'ImageGenerateParams',
    imports: { 'node_modules/openai/resources/images': ['ImageGenerateParams'] },
  },
  gemini: {
    typeOf: () => `OnTheWire<{ contents: Content[]; generationConfig: ${GEMINI_CONFIG} }>`,
    imports: {
      'node_modules/@google/genai/dist/genai': ['Content', 'GenerateContentConfig'],
      'test/support/on-the-wire': ['OnTheWire'],
    },
  },
  replicate: {
    typeOf: (path) => `Prediction<'${/^\/models\/(.*)\/predictions$/.exec(path)?.[1]}'>`,
    imports: { 'test/upstreams/generation/documented-predictions': ['Prediction'] },
  },
  fal: {
    typeOf: (path) => `FalInput<'${path.slice(1)}'>`,
    imports: { 'test/upstreams/generation/documented-endpoints': ['FalInput'] },
  },
};

const RUNWAY_TYPES: Readonly<Record<string, string>> = {
  '/v1/text_to_video': 'TextToVideoCreateParams',
  '/v1/image_to_video': 'ImageToVideoCreateParams',
  '/v1/video_to_video': 'VideoToVideoCreateParams',
  '/v1/character_performance': 'CharacterPerformanceCreateParams',
};

/** Models whose inputs nobody outside declares, as far as we know. */
const UNPROVED: Partial<Record<GenerationProtocolName, readonly string[]>> = {
  replicate: [
    ...['gpt-image-1', 'gpt-image-2', 'grok-imagine-image-quality', 'kling-3.0-motion-control'],
    ...['gemini-2.0-flash-preview-image-generation', 'grok-imagine-video', 'runway-gen4.5'],
    ...['runway-gen4-turbo', 'runway-aleph-2', 'topaz-video-upscale', 'trellis', 'hunyuan3d-2.1'],
    ...['tripo-2.5', 'elevenlabs-sound-effects', 'stable-audio-2.5'],
  ],
};

const PROTOCOLS = Object.keys(DECLARATIONS) as GenerationProtocolName[];

let recorder: OutgoingRecorder;
beforeAll(() => {
  recorder = startOutgoingRecorder();
});
afterAll(() => recorder.stop());

interface Payload extends DeclaredValue {
  /** The call that leads to the payload. */
  readonly call: string;
}

/** Returns each different request of a protocol, over all models that it serves. */
async function payloadsOf(
  protocol: GenerationProtocolName,
  typeOf: (path: string) => string,
): Promise<Payload[]> {
  const payloads = new Map<string, Payload>();
  for (const [id, served, model] of MODEL_PROTOCOLS) {
    if (served !== protocol) continue;
    const physical = physicalModel(protocol, id);
    const names = Object.keys(model.contract.schema.properties);
    const bodies = bodiesOf(model).flatMap((body) => [
      body,
      ...names.flatMap((name) =>
        differentValues(model, name).map((value) => ({ ...body, [name]: value })),
      ),
    ]);
    for (const body of bodies) {
      const input = acceptOrRefuse(model.contract, body);
      // What the provider has no place for is refused, or goes to another channel.
      if (UNPROVED[protocol]?.includes(id)) continue;
      if (!input || unsentParameter(protocol, physical, input) !== undefined) continue;
      const { requests, refusal } = await recorder.submit(protocol, id, input as GenerationInput);
      expect({ id, body, refusal }).toEqual({ id, body, refusal: undefined });
      for (const request of requests) {
        const [, path = '', ...text] = request.split(' ');
        // A form is recorded as a list of its fields.
        if (text.join(' ').startsWith('[')) continue;
        const value: unknown = JSON.parse(text.join(' '));
        const call = `${id}, ${path}: ${JSON.stringify(body).slice(0, 300)}`;
        if (!payloads.has(request)) payloads.set(request, { type: typeOf(path), value, call });
      }
    }
  }
  return [...payloads.values()];
}

describe.each(PROTOCOLS)('%s', (protocol) => {
  test('gets only what its package declares', async () => {
    const { typeOf, imports } = DECLARATIONS[protocol] ?? { typeOf: String, imports: {} };
    const payloads = await payloadsOf(protocol, typeOf);
    const row = WITNESSES.find((each) => each.protocol === protocol);
    expect({ protocol, payloads: payloads.length }).toEqual({
      protocol,
      payloads: row?.payloads.types ?? 0,
    });
    const errors = await typeErrors(payloads, imports);
    const wrong = payloads.flatMap(({ call }, at) =>
      (errors[at] ?? []).length > 0 ? [`${call}: ${errors[at]?.at(-1)}`] : [],
    );
    expect(wrong).toEqual([]);
  });
});

test('the compiler finds a wrong value, an unknown member and an unknown endpoint', async () => {
  const film = { model: 'gen4.5', promptText: 'x', duration: 5 };
  const errors = await typeErrors(
    [
      { type: 'TextToVideoCreateParams', value: { ...film, ratio: '1280:720' } },
      { type: 'TextToVideoCreateParams', value: { ...film, ratio: '960:960' } },
      { type: 'TextToVideoCreateParams', value: { ...film, ratio: '1280:720', audio: true } },
      { type: "FalInput<'fal-ai/nano-banana'>", value: { prompt: 'x', image_urls: ['y'] } },
      { type: "FalInput<'fal-ai/unknown'>", value: { prompt: 'x' } },
    ],
    { ...DECLARATIONS.runway?.imports, ...DECLARATIONS.fal?.imports },
  );
  expect(errors.map((each) => each.length > 0)).toEqual([false, true, true, true, true]);
});
