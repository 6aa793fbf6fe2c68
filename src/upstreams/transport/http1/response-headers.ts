/**
 * The headers of an answer. A few of a dozen are ever asked for, so they are looked for in the text
 * instead of being taken apart.
 */
export class ResponseHeaders {
  /** With every name in lower case; positions are those of `text`. */
  private readonly lower: string;

  /** `text`: the status line and the header lines after it, without the empty line. */
  constructor(private readonly text: string) {
    this.lower = text.toLowerCase();
  }

  /** The value of a header, named in lower case; of several all, with commas (RFC 9110, 5.3). */
  get(name: string): string | null {
    const line = lineOf(name);
    let found: string | null = null;
    let at = this.lower.indexOf(line);
    while (at >= 0) {
      const from = at + line.length;
      const end = this.text.indexOf('\r\n', from);
      const value = this.text.slice(from, end < 0 ? undefined : end).trim();
      found = found === null ? value : `${found}, ${value}`;
      at = this.lower.indexOf(line, from);
    }
    return found;
  }

  has(name: string): boolean {
    return this.lower.includes(lineOf(name));
  }
}

/** How the line of a header begins, by its name: a few names are asked for again and again. */
const lines = new Map<string, string>();

function lineOf(name: string): string {
  const known = lines.get(name);
  if (known !== undefined) return known;
  const line = `\r\n${name}:`;
  lines.set(name, line);
  return line;
}
