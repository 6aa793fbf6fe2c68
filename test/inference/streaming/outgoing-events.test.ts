import { expect, test } from 'bun:test';
import { OutgoingEvents } from '../../../src/inference/streaming/outgoing-events.ts';

const first = { text: '<a|', produced: 'a', final: false };
const others = {
  ...{ text: '<b|<c|', produced: 'bc', final: false },
  ...{ frame: { before: 1, after: 1 }, isSecond: true },
};

/** Returns the short form of the first event, with a text of its own, and of the others. */
function shortOf(text: string): string {
  const outgoing = new OutgoingEvents();
  outgoing.add(text, first);
  outgoing.add(others.text, others);
  return outgoing.shortForm(outgoing.text).join('');
}

test('merged deltas are one with the delta before them', () => {
  expect(shortOf(first.text)).toBe('<abc|');
});

test('they stay apart if that delta was sent in another form, which may end in another way', () => {
  expect(shortOf('<a, counted anew>')).toBe('<a, counted anew><bc|');
});
