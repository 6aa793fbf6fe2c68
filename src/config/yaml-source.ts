import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

/** Something wrong in a configuration file. */
export interface Mistake {
  /** 1-based. */
  readonly line: number;
  /** Dotted, e.g. `channels.0.api_key`; '' = the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** How often aliases may repeat a node: a small file must not become a huge value. */
const MAX_ALIASES = 100;

/** A YAML text with its value and the places where its parts stand. */
export class YamlSource {
  private readonly lines = new LineCounter();
  private readonly document: Document;

  constructor(text: string) {
    this.document = parseDocument(text, { lineCounter: this.lines, prettyErrors: false });
  }

  /** What is no valid YAML, first to last. */
  syntaxMistakes(): Mistake[] {
    return [...this.document.errors, ...this.document.warnings].map((problem) => ({
      line: this.lines.linePos(problem.pos[0]).line,
      path: '',
      message: problem.message,
    }));
  }

  /** The value as plain data. Throws where aliases refer to nothing, or to too much. */
  value(): unknown {
    return this.document.toJS({ maxAliasCount: MAX_ALIASES });
  }

  /** The line of a JSON pointer: of its key, or of the nearest thing around it that stands there. */
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

/** The steps of a JSON pointer (RFC 6901). */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A key as a step of a JSON pointer. */
export function pointerStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
