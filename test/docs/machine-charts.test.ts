import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseXml, XmlElement } from '@rgrove/parse-xml';
import { crossingsOf, faultsOf } from '../../docs/machine-files/geometry.ts';
import { findMachines } from '../../docs/machines-page.ts';
import { drawChart, type SvgElement } from '../../web/charts/draw.ts';
import type { ChartBox, ChartLayout } from '../../web/charts/layout.ts';
import { svgOf } from '../../web/charts/svg-text.ts';
import { ROOT } from '../house/sources.ts';

const charts = (await findMachines()).map(({ machine }) => {
  const file = join(ROOT, `docs/machines/${machine.id}.layout.json`);
  const layout: ChartLayout = JSON.parse(readFileSync(file, 'utf8'));
  return { id: machine.id, machine, layout };
});
const chartOf = (id: string): ChartLayout => {
  const found = charts.find((each) => each.id === id);
  if (!found) throw new Error(`there is no chart ${id}`);
  return found.layout;
};

/** The part of a machine's definition that charts show. */
interface Config {
  on?: Record<string, unknown>;
  entry?: unknown;
  exit?: unknown;
  states?: Record<string, Config>;
}
type Outcome = { target?: string; guard?: string };

/** Each transition as `STATE EVENT [GUARD]`, read from the definition; `kept` are those without a target. */
function transitionsOf(config: Config, path: string[] = []): { leading: string[]; kept: string[] } {
  const own = Object.entries(config.on ?? {}).flatMap(([event, written]) =>
    [written].flat().map((each): { text: string; leads: boolean } => {
      const { target, guard }: Outcome =
        typeof each === 'string' ? { target: each } : (each as Outcome);
      const name = `${path.join('.')} ${event} [${guard ?? ''}]`;
      return { text: name, leads: target !== undefined };
    }),
  );
  const inner = Object.entries(config.states ?? {}).map(([key, state]) =>
    transitionsOf(state, [...path, key]),
  );
  return {
    leading: [
      ...own.filter(({ leads }) => leads).map(({ text }) => text),
      ...inner.flatMap((each) => each.leading),
    ],
    kept: [
      ...own.filter(({ leads }) => !leads).map(({ text }) => text),
      ...inner.flatMap((each) => each.kept),
    ],
  };
}

/** `else` is a word of the charts, not of the machines. */
const written = (guard: string) => (guard === 'else' ? '' : guard);
const stateOf = (box: string) => box.replace(/#any$/, '');

describe.each(charts)('the chart of $id', ({ machine, layout }) => {
  test('has no label on another one, no line through a box, and nothing outside', () => {
    expect(faultsOf(layout)).toEqual([]);
  });

  test('has hardly a crossing, and fits a page', () => {
    expect(crossingsOf(layout)).toBeLessThanOrEqual(2);
    expect(layout.width).toBeLessThanOrEqual(1_200);
  });

  test('has each transition once', () => {
    const { leading, kept } = transitionsOf(machine.config as Config);
    const on_arrows = layout.arrows.flatMap(({ source, label }) =>
      (label?.events ?? []).map(
        ({ event, guard }) => `${stateOf(source)} ${event} [${written(guard)}]`,
      ),
    );
    const in_boxes = layout.boxes.flatMap(({ id, notes }) =>
      notes
        .filter(({ on }) => on !== 'entry' && on !== 'exit')
        .map(({ on, guard }) => `${stateOf(id)} ${on} [${written(guard)}]`),
    );
    expect(on_arrows.sort()).toEqual(leading.sort());
    expect(in_boxes.sort()).toEqual(kept.sort());
  });

  test('is drawn whole: each text of the layout is in the SVG, once for each box and label', () => {
    const texts = textsOf(parseXml(svgOf(layout)).root);
    const titles = layout.boxes.map(({ title }) => title).filter((title) => title !== '');
    expect(texts).toEqual(expect.arrayContaining(titles));
    const elements = drawChart(layout);
    const drawn = (kind: string) =>
      elements.filter(({ attributes }) => has(attributes, kind)).length;
    expect(drawn('chart-box')).toBe(layout.boxes.length);
    expect(drawn('chart-arrow')).toBe(layout.arrows.length);
    expect(drawn('chart-label')).toBe(layout.arrows.filter(({ label }) => label !== null).length);
  });
});

const has = ({ class: names }: SvgElement['attributes'], name: string) =>
  String(names).split(' ').includes(name);

/** The text of an element, without its tooltip. */
function textIn({ children }: SvgElement): string {
  return children
    .map((child) =>
      typeof child === 'string' ? child : child.tag === 'title' ? '' : textIn(child),
    )
    .join('');
}

function textsOf(element: XmlElement | null): string[] {
  const children = (element?.children ?? []).filter((child) => child instanceof XmlElement);
  const own = element?.name === 'text' ? [element.text] : [];
  return [...own, ...children.flatMap(textsOf)];
}

describe('a fault of a layout is found', () => {
  const layout = chartOf('webhook');
  const withBox = (id: string, change: Partial<ChartBox>): ChartLayout => ({
    ...layout,
    boxes: layout.boxes.map((box) => (box.id === id ? { ...box, ...change } : box)),
  });
  const [box] = layout.boxes.filter(({ id }) => id === 'failed');
  const labelled = layout.arrows.filter(({ label }) => label !== null);
  const moved = (from: number, to: number): ChartLayout => {
    const label = labelled[to]?.label;
    return {
      ...layout,
      arrows: layout.arrows.map((arrow) =>
        arrow === labelled[from] && arrow.label && label
          ? { ...arrow, label: { ...arrow.label, x: label.x, y: label.y } }
          : arrow,
      ),
    };
  };

  test.each([
    ['a label on another one', moved(0, 1), 'covers the label'],
    [
      'a box on another one',
      withBox('failed', { x: layout.boxes[1]?.x ?? 0, y: layout.boxes[1]?.y ?? 0 }),
      'not apart',
    ],
    [
      'a box around all lines',
      withBox('failed', { x: 0, y: 0, width: layout.width, height: layout.height }),
      'passes failed',
    ],
    [
      'a title outside',
      withBox('failed', { text_x: (box?.x ?? 0) + (box?.width ?? 0) }),
      'the title of failed is outside',
    ],
    ['a chart that is cut', { ...layout, height: layout.height / 2 }, 'is outside'],
  ])('%s', (_, broken, fault) => {
    expect(faultsOf(broken).join('\n')).toContain(fault);
  });
});

describe('what is lit', () => {
  const active = new Set(['processing', 'processing.waiting']);
  const last = { source: 'pending.submitting', target: 'processing.waiting', event: 'SUBMITTED' };
  const elements = drawChart(chartOf('task'), { active, chosen: 'failed', last });
  const named = (name: string) => elements.filter(({ attributes }) => has(attributes, name));

  test('are the active states, the chosen one, and the last transition', () => {
    const states = (name: string) => named(name).map(({ attributes }) => attributes['data-state']);
    expect(states('chart-active')).toEqual(['processing', 'processing.waiting']);
    expect(states('chart-chosen')).toEqual(['failed']);
    expect(named('chart-last')).toHaveLength(1);
  });

  test('in a label are the event and the guard that held', () => {
    const [label] = drawChart(chartOf('task'), { last: { ...last, guard: 'else' } }).filter(
      ({ attributes }) =>
        has(attributes, 'chart-label') &&
        attributes['data-source'] === last.source &&
        attributes['data-target'] === last.target,
    );
    const lines = (label?.children ?? []).filter((child) => typeof child !== 'string');
    const lit = lines.filter(({ attributes }) => has(attributes, 'chart-last')).map(textIn);
    expect(lines.length).toBeGreaterThan(lit.length + 1);
    expect(lit.map((line) => line.trim())).toEqual(['SUBMITTED', '[else]']);
  });

  test('is nothing without an actor', () => {
    const plain = svgOf(chartOf('task'));
    expect(plain.replace(/<style>[\s\S]*?<\/style>/, '')).not.toMatch(
      /chart-(?:active|chosen|last)/,
    );
  });
});
