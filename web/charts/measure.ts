import type { ChartBoxKind, ChartEvent, ChartNote } from './layout.ts';
import { type ChartLine, labelLines, noteLines } from './lines.ts';

/** Width of a character of a monospaced face, em. The chart has no other face, so its texts can be measured. */
const CHARACTER_EM = 0.6;
/** Font sizes, px. */
const TITLE_PX = 13;
const TEXT_PX = 11;
/** Height of a line of text, px. */
export const LINE_PX = 15;
export const TITLE_LINE_PX = 22;
/** Space beside the text of a box, and half of the space above it. */
export const BOX_PADDING = 10;
/** Space beside the text of a label, and above it. */
export const LABEL_PADDING = { x: 5, y: 3 };
const DOT_PX = 12;
const MIN_BOX_WIDTH_PX = 64;

/** The part of a box that decides its size. */
interface Measured {
  readonly kind: ChartBoxKind;
  readonly title: string;
  readonly notes: readonly ChartNote[];
}

const widthOf = (characters: number, font_px: number): number =>
  Math.ceil(characters * font_px * CHARACTER_EM);

const widestOf = (lines: readonly ChartLine[]): number =>
  widthOf(Math.max(0, ...lines.map(({ name, rest }) => name.length + rest.length)), TEXT_PX);

const titleWidth = (title: string): number => widthOf(title.length, TITLE_PX);

/** The width and height of a box without inner boxes, px; of a group, the smallest ones. */
export function boxSize({ kind, title, notes }: Measured): { width: number; height: number } {
  if (kind === 'start') return { width: DOT_PX, height: DOT_PX };
  const text = Math.max(titleWidth(title), widestOf(noteLines(notes)));
  return {
    width: Math.max(MIN_BOX_WIDTH_PX, text + 2 * BOX_PADDING),
    height: headHeight(notes) + BOX_PADDING / 2,
  };
}

/** The height of a box's title and notes, px, with the space above them. */
export function headHeight(notes: readonly ChartNote[]): number {
  return BOX_PADDING / 2 + TITLE_LINE_PX + noteLines(notes).length * LINE_PX;
}

/** The width and height of an arrow's label, px. */
export function labelSize(events: readonly ChartEvent[]): { width: number; height: number } {
  const lines = labelLines(events);
  return {
    width: widestOf(lines) + 2 * LABEL_PADDING.x,
    height: lines.length * LINE_PX + 2 * LABEL_PADDING.y,
  };
}
