/**
 * What a generation is asked for, after its model's contract has checked it: canonical names, aliases
 * resolved, defaults filled in. Upstream protocols translate from here and from nothing else.
 */

/** What a video call can do (spec: Video generation). */
export const VIDEO_OPERATIONS = [
  'text-to-video',
  'image-to-video',
  'reference-to-video',
  'start-end-to-video',
  'video-to-video',
  'video-extension',
  'audio-to-video',
  'motion-control',
] as const;
export type VideoOperation = (typeof VIDEO_OPERATIONS)[number];

/** An https URL or a `data:` URI. */
type MediaReference = string;

export interface ImageInput {
  readonly prompt: string;
  readonly n: number;
  /** `auto` or `WIDTHxHEIGHT`; absent where the family works with `aspect_ratio`. */
  readonly size?: string;
  /** `W:H`. */
  readonly aspect_ratio?: string;
  readonly resolution?: '1k' | '2k' | '4k';
  readonly quality?: string;
  readonly style?: 'vivid' | 'natural';
  /** How the client wants an inline answer; never decides what is asked of an upstream. */
  readonly response_format: 'url' | 'b64_json';
  readonly background?: 'transparent' | 'opaque' | 'auto';
  readonly output_format?: 'png' | 'jpeg' | 'webp';
  /** Percent. */
  readonly output_compression?: number;
  readonly moderation?: 'auto' | 'low';
  readonly partial_images?: number;
  readonly negative_prompt?: string;
  readonly seed?: number;
  /** Pictures to work from, where the family takes some. */
  readonly images?: readonly MediaReference[];
  /** Where a picture may be changed: its transparent parts. */
  readonly mask?: MediaReference;
  /** The end user, as the client names him. */
  readonly user?: string;
}

export interface KlingElement {
  readonly name: string;
  readonly description?: string;
  readonly element_input_urls: readonly string[];
}

export interface VideoInput {
  /** As sent, or inferred from the inputs. */
  readonly operation: VideoOperation;
  readonly prompt?: string;
  readonly negative_prompt?: string;
  /** The starting picture, from `image_url` or `image`. */
  readonly image?: MediaReference;
  readonly start_image?: MediaReference;
  readonly end_image?: MediaReference;
  readonly reference_images?: readonly MediaReference[];
  readonly reference_image_type?: string;
  readonly kling_elements?: readonly KlingElement[];
  readonly video_url?: MediaReference;
  readonly video_urls?: readonly MediaReference[];
  readonly audio_url?: MediaReference;
  readonly audio_urls?: readonly MediaReference[];
  /** The upstream's own name of the generation that is continued. */
  readonly continued_job?: string;
  /** Seconds. */
  readonly extend_at?: number;
  readonly extend_times?: string;
  /** Seconds of output; filled with the model's default. */
  readonly duration: number;
  readonly aspect_ratio?: string;
  readonly resolution?: string;
  readonly output_audio?: boolean;
  readonly fps?: number;
  readonly seed?: number;
  readonly cfg_scale?: number;
  readonly motion_strength?: number;
  readonly size?: string;
  readonly watermark?: boolean;
  readonly effect_type?: string;
  readonly user?: string;
}

export interface MusicInput {
  readonly action: 'MUSIC' | 'LYRICS';
  readonly prompt: string;
  readonly title?: string;
  readonly tags?: string;
  readonly mv?: string;
  /** The upstream's own name of the clip that is continued. */
  readonly continue_clip_id?: string;
  /** Seconds. */
  readonly continue_at?: number;
  readonly user?: string;
}

/** A solid thing from words, from a picture, or from both. */
export interface SolidInput {
  readonly prompt?: string;
  readonly image?: MediaReference;
  readonly seed?: number;
  readonly user?: string;
}

/** Sounds that are no music: effects, ambience. */
export interface SoundInput {
  readonly prompt: string;
  /** Seconds. */
  readonly duration: number;
  readonly seed?: number;
  readonly user?: string;
}

export type GenerationInput =
  | ({ readonly scene: 'image' } & ImageInput)
  | ({ readonly scene: 'video' } & VideoInput)
  | ({ readonly scene: 'music' } & MusicInput)
  | ({ readonly scene: '3d' } & SolidInput)
  | ({ readonly scene: 'audio' } & SoundInput);
/** What can be made, each by a route of its own. */
export const GENERATION_SCENES = ['image', 'video', 'music', '3d', 'audio'] as const;
export type GenerationScene = GenerationInput['scene'];
