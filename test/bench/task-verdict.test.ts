import { describe, expect, test } from 'bun:test';
import { residentActorsIn } from '../../bench/task-side.ts';
import {
  type InlinePair,
  lossVerdict,
  memoryPerTaskVerdict,
  memoryVerdict,
  pollVerdict,
  rateVerdict,
} from '../../bench/task-verdict.ts';

const pair = (rate: number, polls = 700): InlinePair => ({
  old: { rate: 1_000, polls: 700, disturbed: false },
  new: { rate, polls, disturbed: false },
});

describe('the verdict on memory', () => {
  test('is met up to 1 GB at any time', () => {
    expect(memoryVerdict(1_000)).toEqual({
      ...{ text: 'memory: peak of 1000 MB (target: 1000 MB): met', met: true },
    });
    expect(memoryVerdict(1_001)).toMatchObject({ met: false });
    expect(memoryVerdict(1_001).text).toEndWith('MISSED');
  });

  test('of a short run is about one task', () => {
    expect(memoryPerTaskVerdict(200, 10_000)).toMatchObject({ met: true });
    expect(memoryPerTaskVerdict(201, 10_000)).toMatchObject({ met: false });
    expect(memoryPerTaskVerdict(-20, 10_000).text).toContain('-2.0 kB more for each');
  });
});

describe('the verdict on inline calls', () => {
  test('depends on the median ratio: one bad pair does not miss the target', () => {
    const good = rateVerdict([950, 960, 100, 950, 990, 954].map((rate) => pair(rate)));
    expect(good.text).toBe(
      'inline calls: median new/old 0.952, 95 % interval 0.100 to 0.990 (target: 0.95 or more): met',
    );
    expect(rateVerdict([949, 949, 2_000].map((rate) => pair(rate)))).toMatchObject({ met: false });
  });

  test('names the lower confidence if there are fewer than 6 pairs', () => {
    const few = rateVerdict([1_000, 1_000, 1_000, 1_000].map((rate) => pair(rate)));
    expect(few.text).toContain('87.5 % interval 1.000 to 1.000');
  });

  test('needs the polls of the new version', () => {
    expect(pollVerdict([pair(2_000, 640)])).toMatchObject({ met: true });
    expect(pollVerdict([pair(2_000, 600)])).toMatchObject({ met: false });
  });
});

describe('the verdict on tasks and money', () => {
  const nothing = { lost: 0, dead_effects: 0, imbalances: 0, differences: 0 };

  test('is met if every run kept everything', () => {
    expect(lossVerdict([nothing, nothing])).toMatchObject({ met: true });
  });

  test.each([{ lost: 1 }, { dead_effects: 1 }, { imbalances: 1 }, { differences: 1 }])(
    'is missed by %p',
    (change) => {
      expect(lossVerdict([nothing, { ...nothing, ...change }])).toMatchObject({ met: false });
    },
  );

  test('is missed by lost tasks, even if another run has too many', () => {
    const runs = [
      { ...nothing, lost: 1 },
      { ...nothing, lost: -1 },
    ];
    expect(lossVerdict(runs)).toMatchObject({ met: false });
  });
});

test('the live actors in memory are read from the metrics, if a version counts them', () => {
  const metrics = `# TYPE weir_resident_actors gauge
weir_resident_actors{kind="task"} 10000
weir_resident_actors{kind="webhook"} 3
weir_live_actors 10003
`;
  expect(residentActorsIn(metrics)).toBe('task 10000, webhook 3');
  expect(residentActorsIn('weir_live_actors 0\n')).toBe('-');
});
