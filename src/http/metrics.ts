import type { Handler } from './endpoint.ts';

/** One metric of this replica, with the fields of the Prometheus text format. */
export interface Metric {
  name: string;
  /** Labels and their values. In a list, metrics with the same name must be adjacent. */
  labels?: Readonly<Record<string, string>>;
  help: string;
  /** undefined if the value is not known yet. A metric without a value is left out. */
  value: number | undefined;
}

/** `GET /metrics`. No metric names an organization, a key or a channel (P5, P6). */
export function metrics(read: () => Metric[]): Handler {
  return () => {
    let former = '';
    const lines = read()
      .filter(({ value }) => value !== undefined)
      .map(({ name, labels, help, value }) => {
        const type = `# TYPE ${name} ${typeOf(name)}\n`;
        const head = name === former ? '' : `# HELP ${name} ${help}\n${type}`;
        former = name;
        return `${head}${name}${labelsOf(labels)} ${value}\n`;
      });
    return new Response(lines.join(''), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    });
  };
}

/**
 * Returns the labels in the text format, e.g. `{kind="task"}`. Weir itself chooses the values, so
 * no value needs an escape.
 */
function labelsOf(labels: Metric['labels']): string {
  const pairs = Object.entries(labels ?? {}).map(([label, value]) => `${label}="${value}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

/** Returns the type of a metric. By Prometheus' rules, only a counter's name ends in `_total`. */
function typeOf(name: string): 'counter' | 'gauge' {
  return name.endsWith('_total') ? 'counter' : 'gauge';
}
