/**
 * The parameters of a generation after its model's contract has validated them. Names are
 * canonical, aliases are resolved, and defaults are filled in. Upstream protocols read only these
 * types.
 */

/** The operations of a video call (spec: Video generation). */
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
  /** `auto` or `WIDTHxHEIGHT`. Missing if the family uses `aspect_ratio`. */
  readonly size?: string;
  /** The ratio of width to height, as `W:H`. */
  readonly aspect_ratio?: string;
  readonly resolution?: '1k' | '2k' | '4k';
  readonly quality?: string;
  readonly style?: 'vivid' | 'natural';
  /**
   * Whether a response with the images has URLs or Base64. The results of a task are always URLs.
   * The request to the upstream is the same in all cases.
   */
  readonly response_format: 'url' | 'b64_json';
  readonly background?: 'transparent' | 'opaque' | 'auto';
  readonly output_format?: 'png' | 'jpeg' | 'webp';
  /** Compression level of the output, percent. */
  readonly output_compression?: number;
  readonly moderation?: 'auto' | 'low';
  readonly negative_prompt?: string;
  readonly seed?: number;
  /** Input images, if the family takes them. */
  readonly images?: readonly MediaReference[];
  /** An image whose transparent parts mark the parts of the input image that may change. */
  readonly mask?: MediaReference;
  /** The client's name for its end user. */
  readonly user?: string;
  /** True if the client gets the image, and its previews, as events. */
  readonly stream?: true;
  /** The most previews. Only a call with `stream` has them. */
  readonly partial_images?: number;
}

export interface KlingElement {
  readonly name: string;
  readonly description?: string;
  readonly element_input_urls: readonly string[];
}

export interface VideoInput {
  /** The operation that the request names, or the operation that the inputs imply. */
  readonly operation: VideoOperation;
  readonly prompt?: string;
  readonly negative_prompt?: string;
  /** The first frame. For `start-end-to-video` it is in `start_image` instead. */
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
  /**
   * The id of the earlier generation that this one continues. The client sends the public task id.
   * Weir replaces it by the upstream's id.
   */
  readonly continued_job?: string;
  /** The position in the video where the extension starts, seconds (spec: Video generation). */
  readonly extend_at?: number;
  readonly extend_times?: string;
  /**
   * Duration of the output, seconds. If the request has no value, the model's default applies. It is
   * missing if the output is as long as the source video.
   */
  readonly duration?: number;
  readonly aspect_ratio?: string;
  /** E.g. `720p`. Missing if the model offers no resolutions, or if the source video decides. */
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
  /** The public id of the clip that is continued. Weir replaces it by the upstream's id. */
  readonly continue_clip_id?: string;
  /** The position from which the clip is continued, seconds. */
  readonly continue_at?: number;
  readonly user?: string;
}

/** A 3D object from text, from an image, or from both. */
export interface SolidInput {
  readonly prompt?: string;
  readonly image?: MediaReference;
  readonly seed?: number;
  readonly user?: string;
}

/** Sounds other than music, e.g. effects and ambience. */
export interface SoundInput {
  readonly prompt: string;
  /** Duration of the output, seconds. */
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
/** What a generation can make. Each scene has its own create route. */
export const GENERATION_SCENES = ['image', 'video', 'music', '3d', 'audio'] as const;
export type GenerationScene = GenerationInput['scene'];
