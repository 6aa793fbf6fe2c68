import { createElement, type ReactNode } from 'react';
import { type ChartLights, drawChart, type SvgElement } from './draw.ts';
import type { ChartLayout } from './layout.ts';
import { CHART_STYLE } from './style.ts';

/** The colours of the dashboard (web/styles.css) for the names that charts use. */
const COLORS = `.chart {
  --chart-paper: var(--color-card);
  --chart-card: var(--color-card);
  --chart-sunk: var(--color-sunk);
  --chart-edge: var(--color-edge);
  --chart-hair: var(--color-line);
  --chart-line: var(--color-edge);
  --chart-ink: var(--color-ink);
  --chart-soft: var(--color-soft);
  --chart-accent: var(--color-accent);
  --chart-accent-soft: var(--color-accent-soft);
}`;

let is_styled = false;

/** Adds the look of charts to the document. The policy of the document admits no style elements. */
function addStyle(): void {
  if (is_styled) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(COLORS + CHART_STYLE);
  document.adoptedStyleSheets.push(sheet);
  is_styled = true;
}

interface ChartProps {
  readonly layout: ChartLayout;
  readonly lights?: ChartLights;
  /** Width on the page: px, or a share of what is around it. */
  readonly width: number | string;
  /** Called with the path of a state that the reader clicks. */
  readonly onState?: (path: string) => void;
}

/** A machine's chart. The states and transitions must also stand beside it as text. */
export function Chart({ layout, lights = {}, width, onState }: ChartProps) {
  addStyle();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: each state is also a link beside the chart
    <svg
      className="chart block h-auto max-w-none"
      role="img"
      aria-label={`Chart of the machine ${layout.machine}`}
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      style={{ width }}
      onClick={(event) => {
        const box = event.target instanceof Element ? event.target.closest('[data-state]') : null;
        const path = box?.getAttribute('data-state');
        if (path && layout.boxes.some(({ id, description }) => id === path && description)) {
          onState?.(path);
        }
      }}
    >
      {drawChart(layout, lights).map(elementOf)}
    </svg>
  );
}

function elementOf({ tag, attributes, children }: SvgElement, key: number): ReactNode {
  const { class: className, ...rest } = attributes;
  const inner = children.map((child, index) =>
    typeof child === 'string' ? child : elementOf(child, index),
  );
  return createElement(tag, { key, className, ...rest }, ...inner);
}
