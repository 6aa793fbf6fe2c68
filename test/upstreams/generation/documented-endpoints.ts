/**
 * Endpoints of fal whose types @fal-ai/client 1.10.1 does not declare as fal's own pages do. Either they
 * are newer than the package, or the package gives them the type of another model with the same members.
 * The facts are those of each endpoint's page: fal.ai/models/<endpoint>/llms.txt.
 */

import type { EndpointTypeMap } from '@fal-ai/client/endpoints';

/** The input of an endpoint; `never` if neither the pages nor the package declare it. */
export type FalInput<Path extends string> = Path extends keyof DocumentedEndpoints
  ? DocumentedEndpoints[Path]
  : Path extends keyof EndpointTypeMap
    ? EndpointTypeMap[Path]['input']
    : never;

type Shape = '21:9' | '16:9' | '4:3' | '1:1' | '3:4' | '9:16';

interface Seedance {
  prompt: string;
  resolution?: '480p' | '720p' | '1080p';
  duration?: 'auto' | `${4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15}`;
  aspect_ratio?: Shape | 'auto';
  generate_audio?: boolean;
  seed?: number;
}

interface SeedanceFrames extends Seedance {
  image_url: string;
  end_image_url?: string;
}

interface SeedanceReferences extends Seedance {
  image_urls?: string[];
  video_urls?: string[];
  audio_urls?: string[];
}

interface GptImage2 {
  prompt: string;
  image_size?: { width: number; height: number } | string;
  quality?: 'low' | 'medium' | 'high';
  num_images?: number;
  output_format?: 'png' | 'jpeg' | 'webp';
}

interface GrokImage {
  prompt: string;
  num_images?: 1 | 2 | 3 | 4;
  aspect_ratio?: Shape | '2:1' | '3:2' | '2:3' | '1:2';
  output_format?: 'jpeg' | 'png' | 'webp';
}

/** The package declares 720p and 1080p; the pages of Veo 3.1 add 4k. */
interface Veo {
  prompt: string;
  aspect_ratio?: '16:9' | '9:16';
  duration?: '4s' | '6s' | '8s';
  resolution?: '720p' | '1080p' | '4k';
  generate_audio?: boolean;
  negative_prompt?: string;
  seed?: number;
}

interface DocumentedEndpoints {
  'bytedance/seedance-2.0/text-to-video': Seedance;
  'bytedance/seedance-2.0/image-to-video': SeedanceFrames;
  'bytedance/seedance-2.0/reference-to-video': SeedanceReferences;
  'bytedance/seedance-2.0/fast/text-to-video': Seedance;
  'bytedance/seedance-2.0/fast/image-to-video': SeedanceFrames;
  'bytedance/seedance-2.0/fast/reference-to-video': SeedanceReferences;
  'openai/gpt-image-2': GptImage2;
  'openai/gpt-image-2/edit': GptImage2 & { image_urls: string[]; mask_url?: string };
  'xai/grok-imagine-image': GrokImage;
  'fal-ai/veo3.1': Veo;
  'fal-ai/veo3.1/fast': Veo;
  'fal-ai/veo3.1/image-to-video': Veo & { image_url: string };
  'fal-ai/veo3.1/fast/image-to-video': Veo & { image_url: string };
  'tripo3d/tripo/v2.5/text-to-3d': { prompt: string; seed?: number };
}
