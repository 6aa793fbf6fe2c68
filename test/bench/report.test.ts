import { describe, expect, test } from 'bun:test';
import { type ContenderName, NAMES } from '../../bench/contenders.ts';
import type { Measurement } from '../../bench/load.ts';
import { type Series, table } from '../../bench/report.ts';

const measured = (requests_per_s: number): Measurement[] => [
  { requests_per_s, p50_ms: 1, p99_ms: 2, answers: 10, seconds: 1, errors: 0, read: 1, flaws: [] },
];

const RATES: Record<ContenderName, number> = {
  direct: 400,
  nginx: 200,
  'portkey-node': 10,
  'portkey-bun': 50,
  weir: 100,
};

function series(refused: Partial<Record<ContenderName, string>> = {}): Series {
  return {
    stream: true,
    rounds: new Map(NAMES.map((name) => [name, measured(RATES[name])])),
    refused: new Map(Object.entries(refused) as [ContenderName, string][]),
  };
}

const rowsOf = (text: string) => [...text.matchAll(/^\| ([\w-]+) \| \d/gm)].map(([, name]) => name);

describe('the table of a benchmark', () => {
  test('has a row for each contender, and the ratio to the faster Portkey', () => {
    const text = table(series());
    expect(rowsOf(text)).toEqual([...NAMES]);
    expect(text).toContain('Weir : nginx = **0.50** · Weir : portkey-bun = **2.0**');
    expect(text).not.toContain('No row');
  });

  test('has neither row nor ratio for a contender whose answers were wrong', () => {
    const text = table(series({ 'portkey-bun': 'status 500:\n{}' }));
    expect(rowsOf(text)).toEqual(['direct', 'nginx', 'portkey-node', 'weir']);
    expect(text).toContain('No row for portkey-bun: status 500: {}.');
    expect(text).toContain('Weir : portkey-node = **10.0**');
    expect(text).not.toContain('Weir : portkey-bun');
  });

  test('has no ratio without a valid Portkey, nginx or Weir', () => {
    const none = { 'portkey-bun': 'no', 'portkey-node': 'no' };
    expect(table(series(none))).not.toContain('Weir : portkey');
    expect(table(series({ nginx: 'no' }))).not.toContain('Weir : nginx');
    expect(table(series({ nginx: 'no' }))).toContain(
      '| weir | 100 | 1.00 | 2.00 | 0.00 / 0.00 | unknown |',
    );
    expect(table(series({ weir: 'no' }))).not.toContain('Weir :');
  });
});
