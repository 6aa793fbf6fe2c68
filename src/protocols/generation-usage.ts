/** What a generation used. A missing member means that the provider did not report it. */
export interface GenerationUsage {
  readonly images?: number;
  /** Seconds of output. */
  readonly seconds?: number;
  readonly songs?: number;
  readonly tokens?: {
    readonly text_input: number;
    readonly image_input: number;
    readonly cached_input: number;
    readonly output: number;
  };
}
