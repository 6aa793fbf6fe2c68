/**
 * Every price that a call without chat tokens can have: one cell for each model, operation and value
 * of the parameters that move prices. The prices come from Weir's own functions.
 */
import { builtInModels } from '../../../src/catalogue/built-in.ts';
import type { GenerationModel } from '../../../src/catalogue/catalogue.ts';
import { directPrice } from '../../../src/catalogue/direct-price.ts';
import {
  DIRECT_OPERATIONS,
  isDirectFamily,
  isGenerationFamily,
} from '../../../src/catalogue/families.ts';
import { priceGeneration } from '../../../src/catalogue/generation-price.ts';
import type { GenerationInput } from '../../../src/catalogue/inputs.ts';
import { WeirError } from '../../../src/errors/weir-error.ts';
import { type PropertySchema, valuesOf } from '../../full/support/contract-values.ts';
import { generationModel } from '../../support/contracts.ts';

/** One price. `usd` is for one unit; for tokens and characters, for a million of them. */
export interface Cell {
  readonly model: string;
  readonly operation: string;
  /** The values of the parameters that move prices, e.g. `output_audio=true resolution=720p`. */
  readonly tier: string;
  readonly unit: string;
  readonly usd: number;
}

const NANO_PER_USD = 1e9;
const PICO_PER_USD = 1e12;
const MILLION = 1e6;

const PICTURE = 'https://example.com/a.png';
const FILM = 'https://example.com/a.mp4';
/** The bodies of the operations of images and 3D objects, whose contracts do not name operations. */
const BODIES: Readonly<Record<string, object>> = {
  'text-to-image': {},
  'image-to-image': { image: 'data:image/png;base64,iVBORw0KGgo=' },
  'text-to-music': {},
  'text-to-audio': {},
  'text-to-3d': { prompt: 'a chair' },
  'image-to-3d': { prompt: undefined, image_url: PICTURE },
  'text-to-video': {},
  'image-to-video': { image_url: PICTURE },
  'start-end-to-video': { start_image: PICTURE, end_image: PICTURE },
  'reference-to-video': { reference_images: [PICTURE] },
  'video-to-video': { video_url: FILM },
  'motion-control': { video_url: FILM, image_url: PICTURE },
};
const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  image: ['text-to-image', 'image-to-image'],
  music: ['text-to-music'],
  audio: ['text-to-audio'],
  '3d': ['text-to-3d', 'image-to-3d'],
};

/** The parameters by which a provider may set its price, whether or not a tier of Weir names them. */
const MOVERS = ['resolution', 'quality', 'output_audio', 'action'];
const RESOLUTIONS = ['480p', '720p', '1080p', '4k'];
/** One, two and three megapixels; the last has a little more than two. */
const SIZES = ['1024x1024', '1920x1088', '1440x1472'];

type Choice = readonly [name: string, value: unknown];

/** The values of each parameter that may move the price of a model. */
function choicesOf({ contract, declaration, price, offers }: GenerationModel): Choice[][] {
  const properties = new Map(Object.entries(contract.schema.properties));
  const tiers = price.unit === 'token' ? [] : price.tiers;
  const named = [...MOVERS, ...tiers.flatMap(({ when }) => Object.keys(when))];
  const choices = [...new Set(named)].sort().map((name): Choice[] => {
    if (name === 'resolution' && !offers.resolutions) {
      // The source decides, unless no tier asks for it.
      return tiers.some(({ when }) => 'resolution' in when)
        ? RESOLUTIONS.map((value) => [name, value])
        : [];
    }
    if (name === 'fps') return [[name, undefined], ...tierValues(tiers, name)];
    const property = properties.get(name) as PropertySchema | undefined;
    return property ? valuesOf(property).inside.map((value): Choice => [name, value]) : [];
  });
  const bySize = declaration.price.usd_per_further_megapixel !== undefined;
  return [...choices, bySize ? SIZES.map((size): Choice => ['size', size]) : []].filter(
    (values) => values.length > 0,
  );
}

function tierValues(tiers: readonly { when: Readonly<Record<string, unknown>> }[], name: string) {
  const values = tiers.flatMap(({ when }) => (name in when ? [when[name]] : []));
  return [...new Set(values)].map((value): Choice => [name, value]);
}

/** Every combination of one value for each parameter. */
function combinations(choices: readonly Choice[][]): Choice[][] {
  return choices.reduce<Choice[][]>(
    (all, values) => all.flatMap((chosen) => values.map((value) => [...chosen, value])),
    [[]],
  );
}

function accepted(model: GenerationModel, body: object): GenerationInput | undefined {
  try {
    return model.contract.accept({ ...body });
  } catch (error) {
    if (error instanceof WeirError) return undefined;
    throw error;
  }
}

function generationCells(model: GenerationModel): Cell[] {
  const { id, price, scene, offers } = model;
  const operations = OPERATIONS[scene] ?? offers.operations ?? [];
  return operations.flatMap((operation) => {
    const body = { prompt: 'a lighthouse', ...BODIES[operation] };
    const request = scene === 'video' ? { ...body, operation } : body;
    if (!accepted(model, request)) {
      if (offers.operations) throw new Error(`${id} refuses the body of ${operation}`);
      return [];
    }
    if (price.unit === 'token') {
      const { unit: _, ...kinds } = price;
      return Object.entries(kinds).map(
        ([kind, pico]): Cell => ({
          ...{ model: id, operation, tier: '', unit: `${kind} token` },
          usd: (pico * MILLION) / PICO_PER_USD,
        }),
      );
    }
    return combinations(choicesOf(model)).flatMap((chosen): Cell[] => {
      const { resolution, ...others } = Object.fromEntries(chosen);
      // Where the source decides the resolution, a request cannot name it, and Weir measures it.
      const input = accepted(model, { ...request, ...others, resolution });
      const found = input ?? accepted(model, { ...request, ...others });
      if (!found || (!input && found.scene === 'video' && found.resolution !== undefined))
        return [];
      const measured = input ? {} : { resolution: String(resolution) };
      const usage = { images: 1, seconds: 1, songs: 1 };
      return [
        {
          ...{ model: id, operation, unit: price.unit },
          tier: chosen
            .filter(([, value]) => value !== undefined)
            .map(([name, value]) => `${name}=${value}`)
            .join(' '),
          usd: priceGeneration(model, found, usage, 1, measured) / NANO_PER_USD,
        },
      ];
    });
  });
}

/** Returns all cells of the built-in catalogue, chat models left out. */
export function mediaCells(): Cell[] {
  return builtInModels().flatMap(({ id, family, price }): Cell[] => {
    if (isGenerationFamily(family)) return generationCells(generationModel(id));
    if (!isDirectFamily(family)) return [];
    const operation = DIRECT_OPERATIONS[family];
    return directPrice(operation, price).flatMap((declared) => {
      if (!declared) return [];
      const { unit, pico_usd } = declared;
      const many = unit === 'seconds' || unit === 'requests' ? 1 : MILLION;
      return [{ model: id, operation, tier: '', unit, usd: (pico_usd * many) / PICO_PER_USD }];
    });
  });
}
