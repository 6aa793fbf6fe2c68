import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

/** A mistake in a configuration file. */
export interface Mistake {
  /** Number of the line; the first line is 1. */
  readonly line: number;
  /** Path with dots, e.g. `channels.0.api_key`. The empty text means the whole file. */
  readonly path: string;
  readonly message: string;
}

/**
 * The limit for the repetitions that the aliases of a file cause. Without this limit a small file
 * could become a huge value.
 */
const MAX_ALIASES = 100;

/** A YAML text with its value and the line of each part. */
export class YamlSource {
  private readonly lines = new LineCounter();
  private readonly document: Document;

  constructor(text: string) {
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false });
  }

  /** Returns the syntax mistakes: first the errors, then the warnings. */
  syntaxMistakes(): Mistake[] {
    return [...this.document.errors, ...this.document.warnings].map((problem) => ({
      line: this.lines.linePos(problem.pos[0]).line,
      path: '',
      message: problem.message,
    }));
  }

  /**
   * Returns the value as plain data. Throws if an alias has no target, or if aliases repeat too
   * much.
   */
  value(): unknown {
    return this.document.toJS({ maxAliasCount: MAX_ALIASES });
  }

  /**
   * Returns the line of the key or list entry that a JSON pointer names. If the file has no such
   * key or entry, returns the line of its nearest ancestor.
   */
  lineOf(pointer: string): number {
    let node: unknown = this.document.contents;
    let line = 1;
    for (const step of stepsOf(pointer)) {
      if (isAlias(node)) node = node.resolve(this.document);
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
        if (!pair || !isScalar(pair.key)) return line;
        if (pair.key.range) line = this.lines.linePos(pair.key.range[0]).line;
        node = pair.value;
      } else if (isSeq(node)) {
        node = node.items[Number(step)];
        const start = rangeStart(node);
        if (start === undefined) return line;
        line = this.lines.linePos(start).line;
      } else return line;
    }
    return line;
  }
}

function rangeStart(node: unknown): number | undefined {
  if (!isAlias(node) && !isMap(node) && !isScalar(node) && !isSeq(node)) return undefined;
  return node.range?.[0];
}

/** Returns the unescaped steps of a JSON pointer (RFC 6901). */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns a key, escaped as a step of a JSON pointer. */
export function pointerStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
