/**
 * What a generation (a request for images, videos or music) produced. If a member is missing, the
 * provider did not report it.
 */
export interface GenerationUsage {
  readonly images?: number;
  /** The seconds of produced video or audio. */
  readonly seconds?: number;
  readonly songs?: number;
  readonly tokens?: {
    readonly text_input: number;
    readonly image_input: number;
    readonly cached_input: number;
    readonly output: number;
  };
}
