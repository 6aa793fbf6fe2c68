/**
 * The parameters of generations that Weir accepts but does not send to the upstream (P18). Weir
 * sends every other parameter, or refuses it by name. `docs/catalogue.md` shows this list.
 */

import { type GenerationFamily, sceneOf } from '../families.ts';
import type { GenerationScene } from '../inputs.ts';

/** An entry of the list. It covers the models of `scenes`, or only those of `families`. */
export interface LeftOutOfGeneration {
  readonly parameter: string;
  readonly scenes: readonly GenerationScene[];
  readonly families?: readonly GenerationFamily[];
  /** The values that are left out. Other values are refused or sent. If missing, all values. */
  readonly values?: readonly unknown[];
  /**
   * Why the parameter may be left out. `specification`: Weir's interface specification says that the
   * parameter is not sent, or that `values` are its defaults. `answered`: Weir does itself what the
   * parameter requests. `hint`: neither the price nor the result depends on it.
   */
  readonly kind: 'specification' | 'answered' | 'hint';
  /** Why the parameter is left out, as a sentence for clients. */
  readonly reason: string;
}

const ALL_SCENES: readonly GenerationScene[] = ['image', 'video', 'music', '3d', 'audio'];

export const GENERATION_LEFT_OUT: readonly LeftOutOfGeneration[] = [
  {
    parameter: 'webhook_url',
    scenes: ALL_SCENES,
    kind: 'answered',
    reason: 'Weir itself sends the webhook when the task has ended.',
  },
  {
    parameter: 'user',
    scenes: ALL_SCENES,
    kind: 'hint',
    reason: 'The name of the end user is sent if the provider has a parameter for it.',
  },
  {
    parameter: 'response_format',
    scenes: ['image'],
    kind: 'answered',
    reason: 'Weir stores every image, and returns its URL or its Base64.',
  },
  {
    parameter: 'async',
    scenes: ['image'],
    values: [true, false],
    kind: 'answered',
    reason: 'Weir returns a task or waits for the images. The request to the provider is the same.',
  },
  {
    parameter: 'stream',
    scenes: ['image'],
    values: [false],
    kind: 'answered',
    reason: 'The answer has the whole images. A model that makes no streams refuses `true`.',
  },
  {
    parameter: 'partial_images',
    scenes: ['image'],
    families: ['token-priced-image'],
    kind: 'hint',
    reason:
      'Partial images exist only in streams. Without `stream`, none is requested, and none is charged.',
  },
  {
    parameter: 'input_fidelity',
    scenes: ['image'],
    families: ['token-priced-image'],
    kind: 'specification',
    reason: 'The specification removes it before the request is sent (image rule 1).',
  },
  {
    parameter: 'size',
    scenes: ['image'],
    values: ['1024x1024', 'auto'],
    kind: 'specification',
    reason: 'Some SDKs send this default to every model. A model without `size` ignores it.',
  },
  {
    parameter: 'quality',
    scenes: ['image'],
    values: ['standard', 'auto'],
    kind: 'specification',
    reason: 'Some SDKs send this default to every model. A model without `quality` ignores it.',
  },
  {
    parameter: 'style',
    scenes: ['image'],
    values: ['vivid'],
    kind: 'specification',
    reason: 'Some SDKs send this default to every model. A model without `style` ignores it.',
  },
  {
    parameter: 'operation',
    scenes: ['video'],
    kind: 'answered',
    reason:
      'It tells Weir which request the provider gets. Two operations may have the same request.',
  },
  {
    parameter: 'watermark',
    scenes: ['video'],
    values: [false],
    kind: 'hint',
    reason: 'A model without `watermark` adds no visible watermark.',
  },
  {
    parameter: 'prompt',
    scenes: ['video'],
    families: ['upscaler-video'],
    kind: 'hint',
    reason: 'An upscaler only enlarges its source. Programs send a prompt with every video.',
  },
];

/**
 * True if models of the family accept this value, although Weir does not send it to an upstream.
 */
export function isLeftOutOfGeneration(
  family: GenerationFamily,
  parameter: string,
  value: unknown,
): boolean {
  const scene = sceneOf(family);
  return GENERATION_LEFT_OUT.some(
    (entry) =>
      entry.parameter === parameter &&
      entry.scenes.some((each) => each === scene) &&
      (entry.families?.includes(family) ?? true) &&
      (entry.values?.includes(value) ?? true),
  );
}
