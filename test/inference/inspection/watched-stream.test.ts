import { expect, test } from 'bun:test';
import type { Frame } from '../../../src/inference/inspection/frames.ts';
import { OPERATOR } from '../../../src/inference/inspection/viewer.ts';
import { WatchedStream } from '../../../src/inference/inspection/watched-stream.ts';

const WAIT_MS = 5_000;

function frame(seq: number): Frame {
  return {
    ...{ replica: 'r1', origin: '0123456789ab', seq, at_ms: 0, kind: 'channel', id: 'a' },
    ...{ organization_id: null, actor_seq: seq, event: {}, value: 'closed', context: {} },
    ...{ status: 'active', taken: true },
  };
}

function open(): WatchedStream {
  const stream = new WatchedStream(OPERATOR, {}, () => undefined);
  stream.begin(new Map(), []);
  return stream;
}

const numbers = (news: Awaited<ReturnType<WatchedStream['next']>>) =>
  news?.news.map((each) => ('seq' in each ? each.seq : undefined));

test('the first frame comes at once, and those that follow it soon come together', async () => {
  const stream = open();
  stream.push(frame(1));
  expect(numbers(await stream.next(WAIT_MS))).toEqual([1]);
  stream.push(frame(2));
  const next = stream.next(WAIT_MS);
  stream.push(frame(3));
  expect(numbers(await next)).toEqual([2, 3]);
});

test('a stream that is closed while frames gather still gives them, and then ends', async () => {
  const stream = open();
  stream.push(frame(1));
  await stream.next(WAIT_MS);
  stream.push(frame(2));
  const next = stream.next(WAIT_MS);
  stream.close();
  expect(numbers(await next)).toEqual([2]);
  expect(await stream.next(WAIT_MS)).toBeNull();
});
