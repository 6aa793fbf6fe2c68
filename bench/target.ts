/** One request of a measurement. */
export interface Target {
  url: string;
  headers: Record<string, string>;
  body: string;
}
