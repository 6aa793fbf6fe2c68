/** One request of a measurement. */
export interface Target {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** A part of the body. Each call sends another text instead, so that no two bodies are the same. */
  unique?: string;
  /** What `x-weir-cache` of each answer must say. */
  cache?: 'hit' | 'miss' | 'bypass';
}
