import type { ChartBox, ChartLayout } from '../../web/charts/layout.ts';
import { BOX_PADDING, boxSize, headHeight } from '../../web/charts/measure.ts';
import { linesOf } from './geometry.ts';

/** Space between a title and a line beside it, px. */
const GAP_PX = 6;

/**
 * Moves the titles of groups beside the lines that enter their groups from above, because ELK knows no
 * titles. A title without room stays, which is a fault of the layout.
 */
export function placeTitles(layout: ChartLayout): ChartLayout {
  return { ...layout, boxes: layout.boxes.map((box) => withTitle(box, layout)) };
}

function withTitle(box: ChartBox, layout: ChartLayout): ChartBox {
  if (box.kind !== 'group') return box;
  const bottom = box.y + headHeight(box.notes);
  const in_the_way = layout.arrows
    .flatMap(({ points }) => linesOf(points))
    .filter((line) => line.top < bottom && line.bottom > box.y)
    .filter((line) => line.right > box.x && line.left < box.x + box.width);
  const width = boxSize(box).width - 2 * BOX_PADDING;
  const places = [
    box.text_x,
    ...in_the_way.map(({ right }) => right + GAP_PX).sort((a, b) => a - b),
  ];
  const free = places.find(
    (x) =>
      x + width <= box.x + box.width - BOX_PADDING &&
      in_the_way.every(({ left, right }) => right + GAP_PX <= x || left - GAP_PX >= x + width),
  );
  return free === undefined ? box : { ...box, text_x: free };
}
