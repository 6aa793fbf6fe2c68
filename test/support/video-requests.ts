/** Parts of video requests, for tests that check the rules of video parameters one by one. */
import { VIDEO_OPERATIONS } from '../../src/catalogue/inputs.ts';
import { declaredModel } from './contracts.ts';

export const url = (name: string) => `https://example.com/${name}`;
export const urls = (count: number, ending: string) =>
  Array.from({ length: count }, (_, index) => url(`${index}.${ending}`));
export const PNG = 'data:image/png;base64,iVBORw0KGgo=';
export const image = url('a.png');
export const video = url('a.mp4');
export const audio = url('a.mp3');
export const element = (name: string, pictures = 2) => ({
  name,
  element_input_urls: urls(pictures, 'png'),
});

/** A model that accepts all parameters, as a configuration could declare it. */
export const open = declaredModel({
  category: 'video',
  family: 'multimodal-reference-video',
  price: { usd_per_second: 0.1 },
  offers: {
    operations: [...VIDEO_OPERATIONS],
    parameters: [
      'negative_prompt',
      'seed',
      'cfg_scale',
      'motion_strength',
      'fps',
      'size',
      'watermark',
      'effect_type',
      'reference_image_type',
    ],
  },
});
