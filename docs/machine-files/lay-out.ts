import ELK, { type ElkEdgeSection, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import type { ChartArrow, ChartBox, ChartLayout } from '../../web/charts/layout.ts';
import { BOX_PADDING, boxSize, headHeight, labelSize } from '../../web/charts/measure.ts';
import type { Chart, ChartNode } from './chart.ts';
import { faultsOf, scoreOf } from './geometry.ts';
import { placeTitles } from './titles.ts';

/** Space between the border of a group and the boxes inside it, px. */
const GROUP_PADDING = 16;

/** What all attempts have in common. The options are those of ELK's algorithm "layered". */
const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.padding': padding(GROUP_PADDING),
  'elk.layered.thoroughness': '20',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '22',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
};
const SEEDS = 10;

/** The attempts, of which the best is taken. */
const ATTEMPTS = ['DOWN', 'RIGHT'].flatMap((direction) =>
  ['GREEDY', 'DEPTH_FIRST'].flatMap((cycles) =>
    Array.from({ length: SEEDS }, (_, seed) => ({
      ...OPTIONS,
      'elk.direction': direction,
      'elk.layered.cycleBreaking.strategy': cycles,
      'elk.randomSeed': String(seed + 1),
    })),
  ),
);

/**
 * Lays out a chart with ELK in many ways, and returns the one that reads best. The same chart always gets
 * the same layout.
 *
 * @throws if each attempt has a fault, e.g. a label that covers another one.
 */
export async function layOut(chart: Chart): Promise<ChartLayout> {
  const elk = new ELK();
  let best: { layout: ChartLayout; score: number } | undefined;
  let fault = 'no attempt was made';
  for (const options of ATTEMPTS) {
    const layout = placeTitles(layoutOf(chart, await elk.layout(graphOf(chart, options))));
    const [first] = faultsOf(layout);
    if (first !== undefined) fault = first;
    else {
      const score = scoreOf(layout);
      if (best === undefined || score < best.score) best = { layout, score };
    }
  }
  if (best === undefined) throw new Error(`the chart of ${chart.machine} has no layout: ${fault}`);
  return best.layout;
}

type Options = Record<string, string>;

function graphOf({ boxes, arrows }: Chart, options: Options): ElkNode {
  return {
    id: 'chart',
    layoutOptions: options,
    children: boxes.map((box) => nodeOf(box, options)),
    edges: arrows.map(({ source, target, events }, index) => ({
      id: String(index),
      sources: [source],
      targets: [target],
      labels: events.length === 0 ? [] : [{ text: String(index), ...labelSize(events) }],
    })),
  };
}

function nodeOf(box: ChartNode, options: Options): ElkNode {
  const { width, height } = boxSize(box);
  if (box.children.length === 0) return { id: box.id, width, height };
  return {
    id: box.id,
    layoutOptions: {
      ...options,
      'elk.padding': padding(GROUP_PADDING, headHeight(box.notes) + BOX_PADDING),
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width},${height})`,
    },
    children: box.children.map((child) => nodeOf(child, options)),
  };
}

function padding(all: number, top = all): string {
  return `[top=${top},left=${all},bottom=${all},right=${all}]`;
}

/** Reads the places of the boxes and arrows of a chart from ELK's answer. */
function layoutOf(chart: Chart, laid: ElkNode): ChartLayout {
  const edges = new Map((laid.edges ?? []).map((edge) => [edge.id, edge]));
  const arrows = chart.arrows.map(({ source, target, events }, index): ChartArrow => {
    const { sections = [], labels = [] } = edges.get(String(index)) ?? {};
    const [section] = sections;
    const [label] = labels;
    if (!section) throw new Error(`ELK left out the arrow from ${source} to ${target}`);
    return {
      ...{ source, target, points: pointsOf(section) },
      label: label === undefined ? null : { ...placeOf(label), events },
    };
  });
  const { width, height } = placeOf(laid);
  return { machine: chart.machine, width, height, boxes: placed(chart.boxes, laid), arrows };
}

function placed(boxes: readonly ChartNode[], { children = [] }: ElkNode): ChartBox[] {
  return boxes.flatMap(({ children: inner, description, ...box }) => {
    const node = children.find(({ id }) => id === box.id);
    if (!node) throw new Error(`ELK left out the box ${box.id}`);
    const place = placeOf(node);
    const text = description === undefined ? {} : { description };
    return [{ ...box, ...place, text_x: place.x + BOX_PADDING, ...text }, ...placed(inner, node)];
  });
}

/** To a tenth of a pixel, so that files stay small. */
const rounded = (value = 0) => Math.round(value * 10) / 10;

function placeOf({ x, y, width, height }: Partial<ChartBox> | ElkNode) {
  return { x: rounded(x), y: rounded(y), width: rounded(width), height: rounded(height) };
}

function pointsOf({ startPoint, bendPoints = [], endPoint }: ElkEdgeSection) {
  return [startPoint, ...bendPoints, endPoint].map(({ x, y }) => [rounded(x), rounded(y)] as const);
}
