import { constantValue } from './constants.ts';
import { withoutFences } from './pages.ts';

/**
 * A comment behind a figure ties it to the code. Readers do not see the comment:
 *
 *     60 s<!-- LONGEST_COOLDOWNS_MS.timeout -->
 *
 * The comment is an expression over constants of `src` and `db`. `file.ts#NAME` chooses one of several
 * constants of the same name. The name's ending says its unit: `_MS`, `_S`, `_HOURS`, `_DAYS`, `_BYTES`.
 * `<!-- measured -->` marks a figure that no constant decides.
 */
export interface Figure {
  line: number;
  /** The visible text. */
  text: string;
  expression: string;
}

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1_000,
  second: 1_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  day: 86_400_000,
  kB: 1024,
  MB: 1024 ** 2,
  GB: 1024 ** 3,
};
const WORDS: Record<string, number> = Object.fromEntries(
  ['a', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'].map(
    (word, index) => [word, Math.max(index, 1)],
  ),
);
Object.assign(WORDS, { once: 1, twice: 2, sixteen: 16, twenty: 20 });

const UNIT = `ms|s|min|h|kB|MB|GB|(?:second|minute|hour|day)s?`;
const AMOUNT = `\\d[\\d,.]*|${Object.keys(WORDS).join('|')}`;
const TIED = new RegExp(`\\b(${AMOUNT})(?: (${UNIT}))?<!-- ([^>]+?) -->`, 'gi');
const WITH_UNIT = new RegExp(
  `\\b(?:\\d[\\d,.]*|${Object.keys(WORDS).slice(1).join('|')}) (?:${UNIT})\\b`,
  'g',
);
const ANY_TIE = /<!-- [^>]*[A-Z]_?[A-Z][^>]* -->/g;

/** The figures of a page that a comment ties to the code. */
export function figuresOf(page: string): Figure[] {
  return [...withoutFences(page).matchAll(TIED)].map((match) => ({
    line: lineAt(page, match.index),
    text: match[2] ? `${match[1]} ${match[2]}` : (match[1] ?? ''),
    expression: match[3] ?? '',
  }));
}

/** Comments that name a constant but follow no figure, so that they check nothing. */
export function looseComments(page: string): string[] {
  const rest = withoutFences(page).replace(TIED, (all) => ' '.repeat(all.length));
  return [...rest.matchAll(ANY_TIE)].map((match) => `${lineAt(page, match.index)}: ${match[0]}`);
}

/** Figures with a unit and without a comment. */
export function untiedFigures(page: string): string[] {
  const text = withoutFences(page).replace(/`[^`\n]*`/g, (code) => ' '.repeat(code.length));
  return [...text.matchAll(WITH_UNIT)]
    .filter((match) => !text.startsWith('<!--', match.index + match[0].length))
    .map((match) => `${lineAt(page, match.index)}: ${match[0]}`);
}

const lineAt = (page: string, index: number) => page.slice(0, index).split('\n').length;

/** What is wrong with a figure; undefined if it equals its constant. */
export function errorOf(figure: Figure): string | undefined {
  if (figure.expression === 'measured') return undefined;
  const shown = figureValue(figure.text);
  const value = constantValue(figure.expression) * unitOf(figure.expression);
  if (shown === value) return undefined;
  return `line ${figure.line}: "${figure.text}" is ${shown}, but ${figure.expression} is ${value}`;
}

function figureValue(text: string): number {
  const [amount = '', unit = ''] = text.toLowerCase().split(' ');
  const number = WORDS[amount] ?? Number(amount.replaceAll(',', ''));
  const [, as_written = ''] = text.split(' ');
  return (
    number * (unit === '' ? 1 : (UNITS[as_written] ?? UNITS[unit.replace(/s$/, '')] ?? Number.NaN))
  );
}

/** Milliseconds (or bytes) in one unit of a constant, from the ending of its name. */
function unitOf(expression: string): number {
  const ending = /_(S|HOURS|DAYS)\b/.exec(expression)?.[1];
  return { S: 1_000, HOURS: 3_600_000, DAYS: 86_400_000 }[ending ?? ''] ?? 1;
}
