/** Judges a layout: what must never be, and which of two layouts reads better. */
import type { ChartArrow, ChartBox, ChartLayout, ChartPlace } from '../../web/charts/layout.ts';
import { BOX_PADDING, boxSize, headHeight } from '../../web/charts/measure.ts';

/** An area, px. A horizontal or vertical line is an area without height or width. */
interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Places are rounded to a tenth of a pixel, so areas that touch may overlap by this. */
const TOLERANCE_PX = 0.3;

const areaOf = ({ x, y, width, height }: ChartPlace): Area => ({
  ...{ left: x, right: x + width, top: y, bottom: y + height },
});

/** The text of a box: its title and notes. */
function textOf(box: ChartBox): Area {
  const width = boxSize(box).width - 2 * BOX_PADDING;
  const bottom = box.y + headHeight(box.notes);
  return { left: box.text_x, right: box.text_x + width, top: box.y, bottom };
}

/** The straight parts of an arrow's line. */
export function linesOf(points: ChartArrow['points']): Area[] {
  return points.slice(1).map(([x, y], index) => {
    const [from_x, from_y] = points[index] ?? [x, y];
    return {
      left: Math.min(x, from_x),
      right: Math.max(x, from_x),
      top: Math.min(y, from_y),
      bottom: Math.max(y, from_y),
    };
  });
}

const overlap = (a: Area, b: Area) =>
  a.left < b.right - TOLERANCE_PX &&
  b.left < a.right - TOLERANCE_PX &&
  a.top < b.bottom - TOLERANCE_PX &&
  b.top < a.bottom - TOLERANCE_PX;

/** True if a line goes through an area. A line along the border of the area does not. */
const passes = (line: Area, { left, right, top, bottom }: Area) =>
  line.left < right - TOLERANCE_PX &&
  line.right > left + TOLERANCE_PX &&
  line.top < bottom - TOLERANCE_PX &&
  line.bottom > top + TOLERANCE_PX;

const isWithin = (inner: Area, outer: Area) =>
  inner.left >= outer.left - TOLERANCE_PX &&
  inner.right <= outer.right + TOLERANCE_PX &&
  inner.top >= outer.top - TOLERANCE_PX &&
  inner.bottom <= outer.bottom + TOLERANCE_PX;

/** True if a box, given by its id, is around another one. */
const isAround = (outer: string, inner: string) =>
  inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}#`);

/** Returns what is wrong with a layout, in words. */
export function faultsOf(layout: ChartLayout): string[] {
  const { width, height, boxes, arrows } = layout;
  const whole = { left: 0, right: width, top: 0, bottom: height };
  const labels = arrows.flatMap(({ source, target, label }) =>
    label === null ? [] : [{ name: `the label ${source} → ${target}`, area: areaOf(label) }],
  );
  const texts = boxes
    .filter(({ kind }) => kind !== 'start')
    .map((box) => ({ name: `the title of ${box.id}`, area: textOf(box), box }));
  const lines = arrows.map(({ source, target, points }) => ({
    name: `the line ${source} → ${target}`,
    ...{ source, target, parts: linesOf(points) },
  }));
  const simple = boxes.filter(({ kind }) => kind !== 'group');
  return [
    ...pairs(labels).flatMap(([a, b]) =>
      overlap(a.area, b.area) ? [`${a.name} covers ${b.name}`] : [],
    ),
    ...labels.flatMap((label) => [
      ...texts.flatMap(({ name, area }) =>
        overlap(label.area, area) ? [`${label.name} covers ${name}`] : [],
      ),
      ...simple.flatMap((box) =>
        overlap(label.area, areaOf(box)) ? [`${label.name} covers ${box.id}`] : [],
      ),
      ...lines.flatMap(({ name, parts }) =>
        parts.some((part) => passes(part, label.area)) ? [`${name} passes ${label.name}`] : [],
      ),
      ...(isWithin(label.area, whole) ? [] : [`${label.name} is outside`]),
    ]),
    ...lines.flatMap(({ name, source, target, parts }) => [
      ...boxes
        .filter(({ id }) => !isAround(id, source) && !isAround(id, target))
        .flatMap((box) =>
          parts.some((part) => passes(part, areaOf(box))) ? [`${name} passes ${box.id}`] : [],
        ),
      ...texts.flatMap((text) =>
        parts.some((part) => passes(part, text.area)) ? [`${name} passes ${text.name}`] : [],
      ),
      ...(parts.every((part) => isWithin(part, whole)) ? [] : [`${name} is outside`]),
      ...(parts.every(({ left, right, top, bottom }) => left === right || top === bottom)
        ? []
        : [`${name} is not orthogonal`]),
    ]),
    ...texts.flatMap(({ name, area, box }) =>
      isWithin(area, areaOf(box)) ? [] : [`${name} is outside`],
    ),
    ...pairs(boxes).flatMap(([a, b]) =>
      isAround(a.id, b.id) === isWithin(areaOf(b), areaOf(a)) &&
      (isAround(a.id, b.id) || isAround(b.id, a.id) || !overlap(areaOf(a), areaOf(b)))
        ? []
        : [`${a.id} and ${b.id} are not apart`],
    ),
  ];
}

function pairs<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((first, index) =>
    items.slice(index + 1).map((second): [Item, Item] => [first, second]),
  );
}

/** How often lines of different arrows cross. */
export function crossingsOf({ arrows }: ChartLayout): number {
  const lines = arrows.map(({ points }) => linesOf(points));
  return pairs(lines)
    .flatMap(([a, b]) => a.flatMap((one) => b.map((other) => [one, other] as const)))
    .filter(([one, other]) => cross(one, other) || cross(other, one)).length;
}

const cross = (flat: Area, upright: Area) =>
  flat.top === flat.bottom &&
  upright.left === upright.right &&
  flat.left < upright.left &&
  upright.left < flat.right &&
  upright.top < flat.top &&
  flat.top < upright.bottom;

/** A wider chart is hard to read on a page of 1,000 px. */
const COMFORTABLE_WIDTH_PX = 1_000;

/** What each flaw costs, in px of line. */
const COST = { crossing: 2_500, bend: 40, late_start: 1_500, wide_px: 15, tall_px: 2 };

/** How badly a layout reads; less is better. */
export function scoreOf(layout: ChartLayout): number {
  const { width, height, arrows } = layout;
  const length = arrows
    .flatMap(({ points }) => linesOf(points))
    .reduce((sum, { left, right, top, bottom }) => sum + right - left + bottom - top, 0);
  const bends = arrows.reduce((sum, { points }) => sum + points.length - 2, 0);
  return (
    length +
    bends * COST.bend +
    crossingsOf(layout) * COST.crossing +
    lateStartsOf(layout) * COST.late_start +
    Math.max(0, width - COMFORTABLE_WIDTH_PX) * COST.wide_px +
    height * COST.tall_px
  );
}

/** In how many groups the first state is neither the uppermost nor the leftmost one. */
function lateStartsOf({ boxes, arrows }: ChartLayout): number {
  const starts = arrows.filter(({ source }) => source.endsWith('#start'));
  return starts.filter(({ source, target }) => {
    const around = source.slice(0, -'#start'.length);
    const first = boxes.find(({ id }) => id === target);
    const siblings = boxes.filter(
      ({ id, kind }) =>
        id !== target &&
        kind !== 'start' &&
        kind !== 'any' &&
        id.lastIndexOf('.') === target.lastIndexOf('.') &&
        (around === '' || isAround(around, id)),
    );
    return (
      !first || (siblings.some(({ y }) => y < first.y) && siblings.some(({ x }) => x < first.x))
    );
  }).length;
}
