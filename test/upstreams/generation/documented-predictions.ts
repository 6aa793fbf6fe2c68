/**
 * Inputs of models on Replicate. No package declares them, so the facts are those of each model's page:
 * replicate.com/<model>/versions/…/api, the version of 2026.
 */

interface Flux {
  prompt: string;
  aspect_ratio?: 'custom' | '1:1' | '16:9' | '3:2' | '2:3' | '4:5' | '5:4' | '9:16' | '3:4' | '4:3';
  /** Only with the ratio `custom`. */
  width?: number;
  height?: number;
  seed?: number;
  output_format?: 'webp' | 'jpg' | 'png';
}

interface NanoBanana {
  prompt: string;
  image_input?: string[];
  aspect_ratio?: string;
  output_format?: 'jpg' | 'png';
}

interface Veo {
  prompt: string;
  aspect_ratio?: '16:9' | '9:16';
  duration?: 4 | 6 | 8;
  image?: string;
  last_frame?: string;
  negative_prompt?: string;
  resolution?: '720p' | '1080p';
  generate_audio?: boolean;
  seed?: number;
}

interface Seedance {
  prompt: string;
  image?: string;
  last_frame_image?: string;
  reference_images?: string[];
  reference_videos?: string[];
  reference_audios?: string[];
  duration?: number;
  resolution?: '480p' | '720p' | '1080p';
  aspect_ratio?: '16:9' | '4:3' | '1:1' | '3:4' | '9:16' | '21:9' | 'adaptive';
  generate_audio?: boolean;
  seed?: number;
}

interface Inputs {
  'black-forest-labs/flux-1.1-pro': Flux;
  'black-forest-labs/flux-2-pro': Flux & { input_images?: string[] };
  'google/nano-banana': NanoBanana;
  'google/nano-banana-pro': NanoBanana & { resolution?: '1K' | '2K' | '4K' };
  'ideogram-ai/ideogram-v3-quality': { prompt: string; aspect_ratio?: string; seed?: number };
  'stability-ai/stable-diffusion-3.5-large': {
    prompt: string;
    negative_prompt?: string;
    aspect_ratio?: string;
    image?: string;
    seed?: number;
    output_format?: 'webp' | 'jpg' | 'png';
  };
  'xai/grok-imagine-image': { prompt: string; image?: string; n?: number; aspect_ratio?: string };
  'google/veo-3.1': Veo & { reference_images?: string[] };
  'google/veo-3.1-fast': Veo;
  'kwaivgi/kling-v3-video': {
    prompt: string;
    negative_prompt?: string;
    start_image?: string;
    end_image?: string;
    mode?: 'standard' | 'pro';
    aspect_ratio?: '16:9' | '9:16' | '1:1';
    duration?: number;
    generate_audio?: boolean;
  };
  'bytedance/seedance-2.0': Seedance;
  'bytedance/seedance-2.0-fast': Seedance;
}

/** The body of a prediction; undefined if no page was read for the model. */
export type Prediction<Model extends string> = Model extends keyof Inputs
  ? { input: Inputs[Model] }
  : undefined;
