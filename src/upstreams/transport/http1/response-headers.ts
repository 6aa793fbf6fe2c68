/**
 * The headers of a response. Weir reads only a few headers. So a header is searched in the text
 * when it is read, and the text is not parsed.
 */
export class ResponseHeaders {
  /** The text in lower case. Positions are the same as in `text`. */
  private readonly lowercased: string;

  /** `text` is the status line and the header lines, without the empty line. */
  constructor(private readonly text: string) {
    this.lowercased = text.toLowerCase();
  }

  /**
   * Returns a header's value by its lower-case name. Repeated headers are joined with commas (RFC
   * 9110, 5.3).
   */
  get(name: string): string | null {
    const start = lineStartOf(name);
    let found: string | null = null;
    let at = this.lowercased.indexOf(start);
    while (at >= 0) {
      const from = at + start.length;
      const end = this.text.indexOf('\r\n', from);
      const value = this.text.slice(from, end < 0 ? undefined : end).trim();
      found = found === null ? value : `${found}, ${value}`;
      at = this.lowercased.indexOf(start, from);
    }
    return found;
  }

  /** True if there is a header with this lower-case name. */
  has(name: string): boolean {
    return this.lowercased.includes(lineStartOf(name));
  }
}

/**
 * Maps a header's name to the start of its line. This is a cache: Weir reads the same few names in
 * every response.
 */
const lineStarts = new Map<string, string>();

function lineStartOf(name: string): string {
  const cached = lineStarts.get(name);
  if (cached !== undefined) return cached;
  const start = `\r\n${name}:`;
  lineStarts.set(name, start);
  return start;
}
