import { describe, expect, test } from 'bun:test';
import { WeirError } from '../../../src/errors/weir-error.ts';
import {
  BodyBudget,
  BytesInFlight,
  type CountedBody,
  SMALL_BODY_BYTES,
} from '../../../src/upstreams/transport/body-budget.ts';
import { fc } from '../../support/property.ts';

const MB = 1024 * 1024;
const MAX_BYTES = 8 * MB;

/** Counts the bytes for a new request of the key. Returns the request. */
function start(budget: BodyBudget, key: string, bytes: number): BytesInFlight {
  const request = new BytesInFlight(budget).of(key);
  request.countBody().add(bytes);
  return request;
}

/** Starts requests of the key until one is refused. Returns the number of admitted requests. */
function flood(budget: BodyBudget, key: string, bytes: number): number {
  for (let admitted = 0; ; admitted += 1) {
    try {
      start(budget, key, bytes);
    } catch (error) {
      expect(error).toMatchObject({ id: 'service_unavailable', details: { retry_after: 5 } });
      return admitted;
    }
  }
}

describe('P20: the bytes of bodies in flight', () => {
  test('one key gets half of the sum, and another key a third of it or more', () => {
    const budget = new BodyBudget(MAX_BYTES);
    expect(flood(budget, 'a', MB)).toBe(4);
    expect(flood(budget, 'b', MB)).toBe(2);
    expect(flood(budget, 'c', MB)).toBe(1);
  });

  test('a small body of a key that has used its share is admitted', () => {
    const budget = new BodyBudget(MAX_BYTES);
    flood(budget, 'a', MB);
    start(budget, 'a', SMALL_BODY_BYTES);
    expect(() => start(budget, 'a', SMALL_BODY_BYTES + 1)).toThrow(WeirError);
  });

  test('small bodies of one key leave room for those of another', () => {
    const budget = new BodyBudget(MAX_BYTES);
    flood(budget, 'a', SMALL_BODY_BYTES);
    expect(budget.bytesOf('a')).toBeWithin(0.85 * MAX_BYTES, 0.9 * MAX_BYTES);
    start(budget, 'b', SMALL_BODY_BYTES);
  });

  test('a body that grows is refused when it exceeds the share', () => {
    const body = new BytesInFlight(new BodyBudget(MAX_BYTES)).of('a').countBody();
    for (let piece = 0; piece < 64; piece += 1) body.add(SMALL_BODY_BYTES);
    expect(() => body.add(SMALL_BODY_BYTES)).toThrow(WeirError);
  });

  test('a piece that arrives after the end of its request is not counted', () => {
    const budget = new BodyBudget(MAX_BYTES);
    const request = new BytesInFlight(budget).of('a');
    const body = request.countBody();
    request.end();
    expect(() => body.add(1)).toThrow('the request has ended');
    expect(budget.bytes).toBe(0);
  });

  test('whatever happens, shares are kept and all bytes are given back (generated)', () => {
    fc.assert(fc.property(fc.array(operation, { maxLength: 200 }), run), { numRuns: 500 });
  });
});

type Operation =
  | { kind: 'start'; key: string }
  | { kind: 'add'; request: number; bytes: number; isAnswer: boolean; isNew: boolean }
  | { kind: 'drop' | 'share' | 'unshare' | 'end'; request: number }
  | { kind: 'keep'; request: number; bytes: number };

const request = fc.nat({ max: 20 });
const bytes = fc.oneof(
  fc.nat({ max: 2 * SMALL_BODY_BYTES }),
  fc.nat({ max: MAX_BYTES }),
  fc.constantFrom(0, 1, SMALL_BODY_BYTES, SMALL_BODY_BYTES + 1),
);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constant('start' as const), key: fc.constantFrom('a', 'b', 'c') }),
  fc.record({
    ...{ kind: fc.constant('add' as const), request, bytes },
    ...{ isAnswer: fc.boolean(), isNew: fc.boolean() },
  }),
  fc.record({ kind: fc.constantFrom('drop', 'share', 'unshare', 'end'), request }),
  fc.record({ kind: fc.constant('keep' as const), request, bytes }),
);

interface Started {
  readonly key: string;
  readonly bytes: BytesInFlight;
  readonly unshare: (() => void)[];
  body: CountedBody;
  /** Bytes of `body`, and of the whole request. */
  size: number;
  held: number;
  hasEnded: boolean;
}

/** Runs the operations, and compares the budget with sums over all requests after each of them. */
function run(operations: readonly Operation[]): void {
  const budget = new BodyBudget(MAX_BYTES);
  const all: Started[] = [];
  const heldBy = (key?: string) =>
    all.reduce((sum, each) => sum + (key === undefined || each.key === key ? each.held : 0), 0);
  for (const each of operations) {
    if (each.kind === 'start') {
      const started = new BytesInFlight(budget).of(each.key);
      all.push({
        ...{ key: each.key, bytes: started, unshare: [], body: started.countBody() },
        ...{ size: 0, held: 0, hasEnded: false },
      });
      continue;
    }
    const it = all[each.request];
    if (it) perform(it, each, heldBy);
    expect(budget.bytes).toBe(heldBy());
    for (const key of ['a', 'b', 'c']) expect(budget.bytesOf(key)).toBe(heldBy(key));
  }
  for (const it of all) {
    for (const unshare of it.unshare) unshare();
    if (!it.hasEnded) it.bytes.end();
  }
  expect(budget.bytes).toBe(0);
  for (const key of ['a', 'b', 'c']) expect(budget.bytesOf(key)).toBe(0);
}

function perform(
  it: Started,
  operation: Exclude<Operation, { kind: 'start' }>,
  heldBy: (key?: string) => number,
): void {
  const isOver = () => it.hasEnded && it.unshare.length === 0;
  const end = () => {
    if (isOver()) it.held = 0;
  };
  switch (operation.kind) {
    case 'add':
      if (operation.isNew) {
        it.body = operation.isAnswer ? it.bytes.countAnswer() : it.bytes.countBody();
        it.size = 0;
      }
      add(it, operation.bytes, isOver(), heldBy);
      break;
    case 'drop':
      it.body.drop();
      it.held = Math.max(0, it.held - it.size);
      it.size = 0;
      break;
    case 'keep':
      it.bytes.keepOnly(operation.bytes);
      it.held = Math.min(it.held, operation.bytes);
      break;
    case 'share':
      if (!isOver()) it.unshare.push(it.bytes.share());
      break;
    case 'unshare': {
      const unshare = it.unshare.pop();
      unshare?.();
      // A second call has no effect.
      unshare?.();
      end();
      break;
    }
    case 'end':
      if (!it.hasEnded) it.bytes.end();
      it.hasEnded = true;
      end();
      break;
  }
}

function add(it: Started, more: number, isOver: boolean, heldBy: (key?: string) => number): void {
  const free = MAX_BYTES - heldBy() - more;
  const isSmall = it.size + more <= SMALL_BODY_BYTES;
  const hasRoom = free >= 0 && heldBy(it.key) + more <= free * (isSmall ? 8 : 1);
  let error: unknown;
  try {
    it.body.add(more);
  } catch (thrown) {
    error = thrown;
  }
  if (isOver && more > 0) {
    expect(error).toMatchObject({ message: 'the request has ended' });
  } else if (hasRoom || more === 0) {
    expect(error).toBeUndefined();
    it.held += more;
    it.size += more;
  } else {
    expect(error).toBeInstanceOf(WeirError);
  }
}
