import { type ChartLights, drawChart, type SvgElement } from './draw.ts';
import type { ChartLayout } from './layout.ts';
import { CHART_COLORS, CHART_STYLE } from './style.ts';

/**
 * A chart as the text of an SVG file that needs nothing else. It follows the reader's theme. `title` says what
 * the chart shows.
 */
export function svgOf(
  layout: ChartLayout,
  lights: ChartLights = {},
  title = `The machine ${layout.machine}`,
): string {
  const { width, height } = layout;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escaped(title)}</title>
<style>${CHART_COLORS}${CHART_STYLE}</style>
<rect width="${width}" height="${height}" style="fill:var(--chart-paper)"/>
${drawChart(layout, lights).map(textOf).join('\n')}
</svg>
`;
}

function textOf({ tag, attributes, children }: SvgElement): string {
  const named = Object.entries(attributes).map(([name, value]) => ` ${name}="${escaped(value)}"`);
  const inner = children.map((child) =>
    typeof child === 'string' ? escaped(child) : textOf(child),
  );
  if (inner.length === 0) return `<${tag}${named.join('')}/>`;
  return `<${tag}${named.join('')}>${inner.join('')}</${tag}>`;
}

const escaped = (value: string | number): string =>
  String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
