import { describe, expect, test } from 'bun:test';
import { WeirError } from '../../src/errors/weir-error.ts';
import { STALLED_AFTER_S } from '../../src/http/event-stream.ts';
import { TaskEventStream } from '../../src/http/tasks/event-stream.ts';
import type { TaskUpdate, TaskView } from '../../src/inference/tasks/port.ts';

describe('the body of an event stream', () => {
  const view = { id: 'weir_1', created: 1, model: 'm', scene: 'video' } as unknown as TaskView;

  /** Returns the text of a stream with these updates, and how often the stream was kept open. */
  async function textOf(updates: TaskUpdate[], requireKey: () => unknown = () => undefined) {
    const seen = { kept: 0, closed: 0, waits: [] as number[] };
    const watch = {
      isOver: false,
      next: async (wait_ms: number): Promise<TaskUpdate> => {
        seen.waits.push(wait_ms);
        return updates.shift() ?? { type: 'closed' };
      },
      close: () => {
        seen.closed += 1;
      },
    };
    const keepOpen = () => {
      seen.kept += 1;
    };
    const stream = new TaskEventStream(watch, { view, link: String, requireKey, keepOpen });
    const text = await new Response(stream.body()).text();
    return { text, ...seen };
  }

  test('has a comment at once and in each silence, which keeps the connection open', async () => {
    const quiet: TaskUpdate = { type: 'quiet' };
    const { text, kept, closed, waits } = await textOf([quiet, quiet]);
    expect(text).toBe(': keep-alive\n\n: keep-alive\n\n');
    expect([kept, closed]).toEqual([2, 1]);
    expect(waits).toEqual([0, 15_000, 15_000]);
    // A heartbeat must come well before the connection counts as stalled.
    expect(15_000 * 2).toBeLessThan(STALLED_AFTER_S * 1_000);
  });

  test('ends without a further event if the key may no longer be used', async () => {
    const progress: TaskUpdate = { type: 'progress', seq: 2, status: 'processing', progress: 5 };
    let calls = 0;
    const { text, closed } = await textOf([progress, { ...progress, seq: 4 }], () => {
      calls += 1;
      if (calls === 2) throw new WeirError('expired_api_key', 'revoked');
    });
    expect(text.match(/^id: /gm)).toHaveLength(1);
    expect(closed).toBe(1);
  });
});
