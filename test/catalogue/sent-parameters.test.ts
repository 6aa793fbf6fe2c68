/**
 * P18 for generations, over every model, protocol, operation and published parameter of the built-in
 * catalogue: what is accepted reaches the upstream, or is on the published list.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  GENERATION_LEFT_OUT,
  isLeftOutOfGeneration,
} from '../../src/catalogue/contracts/left-out.ts';
import { FAMILY_PROTOCOLS } from '../../src/catalogue/families.ts';
import { estimateGeneration } from '../../src/catalogue/generation-price.ts';
import type { GenerationInput } from '../../src/catalogue/inputs.ts';
import { unsentParameter } from '../../src/upstreams/generation/sent-parameters.ts';
import {
  acceptOrRefuse,
  bodiesOf,
  differentValues,
  GENERATION_MODELS,
  MODEL_PROTOCOLS,
} from '../support/generation-bodies.ts';
import {
  type OutgoingRecorder,
  physicalModel,
  startOutgoingRecorder,
} from '../support/outgoing.ts';

let recorder: OutgoingRecorder;
beforeAll(() => {
  recorder = startOutgoingRecorder();
});
afterAll(() => recorder.stop());

const short = (value: unknown) => JSON.stringify(value).slice(0, 60);

describe('P18: what a generation takes is sent', () => {
  test.each(MODEL_PROTOCOLS)('%s over %s', async (id, protocol, model) => {
    const { family, contract } = model;
    const physical = physicalModel(protocol, id);
    const silent: string[] = [];
    const prices = new Map<string, number>();
    /** Returns what the provider gets; undefined if the channel is not used for the input. */
    const sent = async (input: GenerationInput): Promise<string | undefined> => {
      if (unsentParameter(protocol, physical, input) !== undefined) return undefined;
      const { requests, refusal } = await recorder.submit(protocol, id, input);
      if (refusal !== undefined) return undefined;
      const text = requests.join('\n');
      const price = estimateGeneration(model, input);
      // Equal requests have equal reservations.
      expect({ text, price: prices.get(text) ?? price }).toEqual({ text, price });
      prices.set(text, price);
      return text;
    };
    let compared = 0;
    for (const body of bodiesOf(model)) {
      const input = acceptOrRefuse(contract, body) as GenerationInput;
      const before = await sent(input);
      for (const name of Object.keys(contract.schema.properties)) {
        const values = new Map<string, unknown>();
        const changes: boolean[] = [];
        for (const value of differentValues(model, name)) {
          if (isLeftOutOfGeneration(family, name, value)) continue;
          const changed = acceptOrRefuse(contract, { ...body, [name]: value });
          const after = changed && (await sent(changed));
          if (after === undefined || Bun.deepEquals(changed, input)) continue;
          compared += 1;
          if (values.has(after)) {
            const other = short(values.get(after));
            silent.push(`${short(body)}: ${name} ${other} and ${short(value)} send the same`);
          }
          values.set(after, value);
          changes.push(after !== before);
        }
        // One of several values may be the provider's own default.
        if (changes.length > 0 && !changes.includes(true)) {
          silent.push(`${short(body)}: ${name} changes nothing`);
        }
      }
    }
    expect({ id, protocol, silent }).toEqual({ id, protocol, silent: [] });
    expect(compared).toBeGreaterThan(0);
  });
});

describe('a contract', () => {
  test.each(GENERATION_MODELS.map((model) => [model.id, model] as const))(
    '%s publishes only parameters that it takes, and that its provider gets',
    (id, model) => {
      const { family, contract } = model;
      const [own = ''] = FAMILY_PROTOCOLS[family];
      const bodies = bodiesOf(model);
      const never = Object.keys(contract.schema.properties).filter((name) => {
        const inputs = bodies.flatMap((body) =>
          differentValues(model, name).flatMap(
            (value) =>
              acceptOrRefuse(contract, { ...withoutImages(body, name), [name]: value }) ?? [],
          ),
        );
        const values = differentValues(model, name);
        if (values.some((value) => isLeftOutOfGeneration(family, name, value)))
          return inputs.length === 0;
        return !inputs.some(
          (input) => unsentParameter(own, physicalModel(own as 'fal', id), input) === undefined,
        );
      });
      expect({ id, never }).toEqual({ id, never: [] });
    },
  );

  /** The body without the other parameters of the first frame, because only one may be sent. */
  function withoutImages(body: Record<string, unknown>, name: string): object {
    const starts = ['image', 'image_url', 'image_urls', 'start_image'];
    if (!starts.includes(name)) return body;
    return Object.fromEntries(Object.entries(body).filter(([each]) => !starts.includes(each)));
  }

  test('only two values cannot be sent by a provider’s own protocol', () => {
    const unsent = GENERATION_MODELS.flatMap((model) => {
      const { family, contract, id } = model;
      const [own = ''] = FAMILY_PROTOCOLS[family];
      return bodiesOf(model).flatMap((body) =>
        Object.keys(contract.schema.properties).flatMap((name) =>
          differentValues(model, name).flatMap((value) => {
            const input = acceptOrRefuse(contract, { ...body, [name]: value });
            const param = input && unsentParameter(own, physicalModel(own as 'fal', id), input);
            return param === undefined ? [] : [`${id} ${param} ${String(value)}`];
          }),
        ),
      );
    });
    expect([...new Set(unsent)]).toEqual([
      'veo-3.1 output_audio false',
      'veo-3.1-fast output_audio false',
      // Only its image-to-video makes squares (@runwayml/sdk: TextToVideoCreateParams.Gen4_5).
      'runway-gen4.5 aspect_ratio 1:1',
    ]);
  });
});

describe('the published list of parameters that may be left out', () => {
  const SAMPLES: Readonly<Record<string, unknown>> = {
    webhook_url: 'https://example.com/hook',
    user: 'user-1',
    response_format: 'b64_json',
    partial_images: 2,
    input_fidelity: 'high',
    operation: 'text-to-video',
    prompt: 'a lighthouse in a storm',
  };

  test.each(GENERATION_LEFT_OUT.map((entry) => [entry.parameter, entry] as const))(
    '%s is accepted by a model, and never moves a price',
    (parameter, { values = [SAMPLES[parameter]] }) => {
      let accepted = 0;
      for (const model of GENERATION_MODELS) {
        for (const body of bodiesOf(model)) {
          const input = acceptOrRefuse(model.contract, body) as GenerationInput;
          for (const value of values) {
            if (!isLeftOutOfGeneration(model.family, parameter, value)) continue;
            const changed = acceptOrRefuse(model.contract, { ...body, [parameter]: value });
            // A model that has `size` or `quality` sends it, so its price may move.
            if (!changed || isSentBy(model, parameter)) continue;
            accepted += 1;
            expect(estimateGeneration(model, changed)).toBe(estimateGeneration(model, input));
          }
        }
      }
      expect(accepted).toBeGreaterThan(0);
    },
  );

  const isSentBy = ({ contract }: (typeof GENERATION_MODELS)[number], parameter: string) =>
    ['size', 'quality', 'style'].includes(parameter) && parameter in contract.schema.properties;
});
