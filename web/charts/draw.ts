import type { ChartArrow, ChartBox, ChartEvent, ChartLabel, ChartLayout } from './layout.ts';
import { labelLines, noteLines } from './lines.ts';
import { BOX_PADDING, LABEL_PADDING, LINE_PX, TITLE_LINE_PX } from './measure.ts';

/** An SVG element. Its look is in `CHART_STYLE`, so its attributes are only places, shapes and names. */
export interface SvgElement {
  readonly tag: 'g' | 'rect' | 'path' | 'circle' | 'text' | 'tspan' | 'title';
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly (SvgElement | string)[];
}

/** What is lit in a chart. */
export interface ChartLights {
  /** Paths of the states that an actor is in, e.g. `processing` and `processing.waiting`. */
  readonly active?: ReadonlySet<string>;
  /** The state that the reader chose. */
  readonly chosen?: string;
  /** The transition that was taken last. */
  readonly last?: ChartTransition;
}

interface ChartTransition {
  readonly source: string;
  readonly target: string;
  readonly event: string;
  /** The guard that held, or `else`; unknown lights all transitions of the event. */
  readonly guard?: string;
}

/** Radius of a line's corners, px. */
const CORNER_PX = 7;
/** Length and half the width of an arrow head, px. */
const HEAD_PX = 8;
const HALF_HEAD_PX = 4;
/** From the top of a line of text to its baseline, px. */
const TITLE_BASELINE_PX = 16;
const TEXT_BASELINE_PX = 11;

/**
 * Returns the elements of a chart, in the order in which they are painted: groups, lines, boxes, labels.
 * So no line hides a text.
 */
export function drawChart(layout: ChartLayout, lights: ChartLights = {}): SvgElement[] {
  const groups = layout.boxes.filter(({ kind }) => kind === 'group');
  const others = layout.boxes.filter(({ kind }) => kind !== 'group');
  return [
    ...groups.map((box) => drawBox(box, lights)),
    ...layout.arrows.map((arrow) => drawLine(arrow, lights)),
    ...others.map((box) => drawBox(box, lights)),
    ...layout.arrows.flatMap((arrow) =>
      arrow.label === null ? [] : [drawLabel(arrow, arrow.label, lights)],
    ),
  ];
}

const element = (
  tag: SvgElement['tag'],
  attributes: SvgElement['attributes'],
  ...children: (SvgElement | string)[]
): SvgElement => ({ tag, attributes, children });

/** The names of classes, without those that do not apply. */
const classes = (...names: (string | false)[]) => names.filter((name) => name !== false).join(' ');

function drawBox(box: ChartBox, { active, chosen }: ChartLights): SvgElement {
  const { id, kind, x, y, width, height, title, text_x, notes, description } = box;
  const name = classes(
    `chart-box chart-${kind}`,
    active?.has(id) === true && 'chart-active',
    chosen === id && 'chart-chosen',
  );
  const attributes = { class: name, 'data-state': id };
  if (kind === 'start') {
    const radius = width / 2;
    return element(
      'g',
      attributes,
      element('circle', { cx: x + radius, cy: y + radius, r: radius }),
    );
  }
  const rx = kind === 'any' ? Math.min(14, height / 2) : kind === 'group' ? 12 : 8;
  const top = y + BOX_PADDING / 2;
  const lines = noteLines(notes).map((line, index) =>
    element(
      'text',
      {
        class: 'chart-note',
        x: text_x,
        y: top + TITLE_LINE_PX + index * LINE_PX + TEXT_BASELINE_PX,
      },
      line.name,
      line.rest,
    ),
  );
  return element(
    'g',
    attributes,
    ...(description === undefined ? [] : [element('title', {}, description)]),
    element('rect', { x, y, width, height, rx }),
    // A double border shows that the machine ends here.
    ...(kind === 'final'
      ? [
          element('rect', {
            class: 'chart-inner',
            ...{ x: x + 3, y: y + 3, width: width - 6, height: height - 6, rx: rx - 3 },
          }),
        ]
      : []),
    element('text', { class: 'chart-title', x: text_x, y: top + TITLE_BASELINE_PX }, title),
    ...lines,
  );
}

const isLast = ({ source, target }: ChartArrow, { last }: ChartLights): boolean =>
  last?.source === source && last.target === target;

/** True for a line of the taken transition, and for the line of its event above several guards. */
function isLit({ event, guard }: ChartEvent, rest: string, last: ChartTransition | undefined) {
  if (last?.event !== event) return false;
  return rest === '' || last.guard === undefined || last.guard === guard;
}

function drawLine(arrow: ChartArrow, lights: ChartLights): SvgElement {
  return element(
    'g',
    { class: classes('chart-arrow', isLast(arrow, lights) && 'chart-last') },
    element('path', { class: 'chart-line', d: lineOf(arrow.points) }),
    element('path', { class: 'chart-head', d: headOf(arrow.points) }),
  );
}

function drawLabel(arrow: ChartArrow, label: ChartLabel, lights: ChartLights): SvgElement {
  const { x, y, width, height, events } = label;
  return element(
    'g',
    { class: 'chart-label', 'data-source': arrow.source, 'data-target': arrow.target },
    element('rect', { x, y, width, height, rx: 5 }),
    ...labelLines(events).map(({ name, rest, of }, index) => {
      const taken = events[of];
      const lit = isLast(arrow, lights) && taken !== undefined && isLit(taken, rest, lights.last);
      const does = taken?.actions.join(', ') ?? '';
      return element(
        'text',
        {
          class: classes('chart-event', lit && 'chart-last'),
          x: x + LABEL_PADDING.x,
          y: y + LABEL_PADDING.y + index * LINE_PX + TEXT_BASELINE_PX,
        },
        ...(does === '' ? [] : [element('title', {}, `does ${does}`)]),
        name,
        element('tspan', { class: 'chart-guard' }, rest),
      );
    }),
  );
}

type Point = ChartArrow['points'][number];

/** A path with round corners, which ends where the arrow head begins. */
function lineOf(points: ChartArrow['points']): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const steps = rest.map((point, index) => {
    const before = points[index] ?? first;
    const after = points[index + 2];
    if (after === undefined) return `L${text(toward(point, before, HEAD_PX))}`;
    const radius = Math.min(CORNER_PX, distance(before, point) / 2, distance(point, after) / 2);
    return `L${text(toward(point, before, radius))}Q${text(point)} ${text(toward(point, after, radius))}`;
  });
  return `M${text(first)}${steps.join('')}`;
}

function headOf(points: ChartArrow['points']): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return '';
  const [x, y] = toward(tip, before, HEAD_PX);
  const flat = before[1] === tip[1];
  const [dx, dy] = flat ? [0, HALF_HEAD_PX] : [HALF_HEAD_PX, 0];
  return `M${text(tip)}L${text([x + dx, y + dy])}L${text([x - dx, y - dy])}Z`;
}

const distance = (a: Point, b: Point) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]);

/** The point that lies `by` px from `from` in the direction of `to`. */
function toward(from: Point, to: Point, by: number): Point {
  const length = distance(from, to);
  if (length === 0) return from;
  const share = Math.min(1, by / length);
  return [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
}

const rounded = (value: number) => Math.round(value * 100) / 100;
const text = ([x, y]: Point) => `${rounded(x)},${rounded(y)}`;
