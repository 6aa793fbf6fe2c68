import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChartBox, ChartLayout } from '../../web/charts/layout.ts';
import { boxSize, labelSize } from '../../web/charts/measure.ts';
import type { Chart, ChartNode } from './chart.ts';

const FOLDER = join(import.meta.dir, '../machines');

/**
 * Returns the committed layout of a chart; undefined if there is none, or if it is not of this chart. The
 * descriptions are those of the chart, because they take no room.
 */
export function committedLayout(chart: Chart): ChartLayout | undefined {
  let layout: ChartLayout;
  try {
    layout = JSON.parse(readFileSync(join(FOLDER, `${chart.machine}.layout.json`), 'utf8'));
  } catch {
    return undefined;
  }
  const boxes = boxesOf(chart.boxes);
  const described = layout.boxes.map((box, index): ChartBox => {
    const { description: _, ...rest } = box;
    const text = boxes[index]?.description;
    return text === undefined ? rest : { ...rest, description: text };
  });
  const present = { ...layout, boxes: described };
  return isOf(chart, present) ? present : undefined;
}

/** True if a layout has exactly the boxes, arrows and texts of a chart, with room for each text. */
function isOf(chart: Chart, { boxes, arrows }: ChartLayout): boolean {
  const drawn = {
    boxes: boxes.map(({ x: _x, y: _y, width: _w, height: _h, text_x: _t, ...box }) => box),
    arrows: arrows.map(({ source, target, label }) => ({
      ...{ source, target, events: label?.events ?? [] },
    })),
  };
  const fits =
    boxes.every((box) => {
      const { width, height } = boxSize(box);
      if (box.kind === 'group') return box.width >= width && box.height >= height;
      return box.width === width && box.height === height;
    }) &&
    arrows.every(({ label }) => {
      if (label === null) return true;
      const { width, height } = labelSize(label.events);
      return label.width === width && label.height === height;
    });
  return fits && Bun.deepEquals(drawn, { boxes: boxesOf(chart.boxes), arrows: chart.arrows });
}

/** All boxes, an outer one before those inside it. */
function boxesOf(boxes: readonly ChartNode[]): Omit<ChartNode, 'children'>[] {
  return boxes.flatMap(({ children, ...box }) => [box, ...boxesOf(children)]);
}
