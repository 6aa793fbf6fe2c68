/** What strangers say about each price of `media-cells.ts`, with the page and the day it was read. */
import litellm from './litellm-media.json';

/**
 * Pages that give a price. `read` is the day of the reading, or the year if only that is known. Most
 * were read by others, who quote the page and the day in a public repository. A page that gives a rule,
 * e.g. USD for each further megapixel, stands for the prices that follow from it.
 */
const PAGES = {
  gemini: { url: 'ai.google.dev/gemini-api/docs/pricing', read: '2026-09-20' },
  xai_bill: { url: 'docs.x.ai: 18 images of 2k were billed at 1.26 USD', read: '2026-10-01' },
  xai_edit: { url: 'fal.ai/models/xai/grok-imagine-image/edit', read: '2026-09-05' },
  xai_reference: { url: 'docs.x.ai: 0.01 USD for each reference image', read: '2026' },
  xai_video_edit: { url: 'fal.ai: 6 s of an edit at 480p for 0.36 USD', read: '2026-09-05' },
  flux: { url: 'fal.ai/models/fal-ai/flux-2-pro; docs.bfl.ai/quick_start/pricing', read: '2026' },
  openai_2025: { url: 'LiteLLM, until the model was retired: USD per pixel', read: '2025' },
  ideogram: { url: 'ideogram.ai/blog/ideogram-api-pricing', read: '2026-11-16' },
  kling: { url: 'fal.ai/models/fal-ai/kling-video/v3', read: '2026-09-12' },
  seedance_fast: { url: 'fal.ai/models/bytedance/seedance-2.0/fast', read: '2026-09-05' },
  runway: { url: 'docs.dev.runwayml.com/guides/pricing, aleph2: 28 credits', read: '2026-08-31' },
  topaz: { url: 'fal.ai/models/fal-ai/topaz/upscale/video', read: '2026-07-24' },
  hunyuan: { url: 'fal.ai/models/fal-ai/hunyuan3d-v21, white mesh', read: '2026-10-07' },
  tripo: { url: 'fal.ai/models/tripo3d/tripo/v2.5/image-to-3d', read: '2026-09-05' },
  sounds: { url: 'fal.ai/models/fal-ai/elevenlabs/sound-effects/v2', read: '2026-09-09' },
  stable_audio: { url: 'fal.ai/models/fal-ai/stable-audio-25', read: '2026-09-05' },
  deepl: { url: 'chatscontrol.com/blog/deepl-api-pricing-plans-limits-2026', read: '2026' },
} as const;

/** A price of a stranger, USD; `differs` says why Weir has another one. */
export interface Source {
  readonly usd?: number;
  readonly from: string;
  readonly differs?: string;
}

/** Rows of LiteLLM's list, with the price members of each. */
export const LITELLM: Readonly<Record<string, Readonly<Record<string, number>>>> = litellm.rows;
/** The `row member` pairs that the table below uses. */
export const USED = new Set<string>();

/** The price of a member of a row of LiteLLM. */
export function list(row: string, member: string, differs?: string): Source {
  USED.add(`${row} ${member}`);
  const price = LITELLM[row]?.[member] ?? Number.NaN;
  const usd = /token|character/.test(member) ? price * 1e6 : price;
  return { usd, from: `${litellm.source}: ${row}`, ...(differs ? { differs } : {}) };
}

/** The price that a page gives. */
export function page(name: keyof typeof PAGES, usd: number, differs?: string): Source {
  const { url, read } = PAGES[name];
  return { usd, from: `${url}, ${read}`, ...(differs ? { differs } : {}) };
}

/** A price that no stranger lists. */
export const nowhere = (reason: string): Source => ({ from: reason });

/**
 * A row of the table. The model; its operations; every parameter that moves its price, each with its
 * values; the unit; the source.
 */
export type Row = readonly [
  model: string,
  operations: readonly string[],
  tier: string,
  unit: string,
  source: Source,
];

export const RELAYS = 'no price list; the price is what relays ask';
export const INPUT_IMAGE = 'the provider also charges the input image, which Weir does not price';
