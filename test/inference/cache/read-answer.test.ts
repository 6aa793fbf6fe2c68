/** A kept answer is sent again, whole and as a stream: the same answer, each time with ids of its own. */
import { describe, expect, test } from 'bun:test';
import { Entry } from '../../../src/inference/cache/entry.ts';
import type { WholeAnswer } from '../../../src/inference/cache/kept-answer.ts';
import {
  type ReplayedCall,
  readAnswer,
  renderStream,
  renderWhole,
} from '../../../src/inference/cache/read-answer.ts';
import { CLIENT_PROTOCOLS, type ClientProtocol } from '../../../src/protocols/names.ts';
import { REPLAYS } from '../../../src/upstreams/replay/protocols.ts';
import { eventsIn } from '../../../src/upstreams/replay/replay.ts';
import { fc } from '../../support/property.ts';
import { ANSWERS, anySaid } from '../../upstreams/replay/said.ts';

const USAGE = { stream_options: { include_usage: true } };

const keptOf = (answer: object) => ({
  ...{ text: JSON.stringify(answer), is_stream: false, usage: null, cost_nano_usd: 1 },
});

/** Reads a kept answer, which must be readable. */
function wholeOf(protocol: ClientProtocol, answer: object): WholeAnswer {
  const whole = readAnswer(protocol, keptOf(answer));
  if (!whole) throw new Error('the answer cannot be read');
  return whole;
}

describe.each(CLIENT_PROTOCOLS.map((name) => [name]))('%s', (protocol) => {
  const replay = REPLAYS[protocol];
  const idsOf = (answer: Record<string, unknown>) =>
    [answer[replay.id], ...replay.ids(answer)].filter((id) => id !== undefined);
  /** The answer with the number of each id in its place. */
  const withoutIds = (answer: Record<string, unknown>): unknown =>
    JSON.parse(
      idsOf(answer).reduce<string>(
        (text, id, at) => text.replaceAll(JSON.stringify(id), `"#${at}"`),
        JSON.stringify(answer),
      ),
    );

  test('every stream has the whole answer, with ids of its own', () => {
    fc.assert(
      fc.property(anySaid, (said) => {
        const whole = wholeOf(protocol, ANSWERS[protocol](said));
        const seen = new Set<unknown>(whole.other_ids);
        for (const answer_id of ['answer_0000000001', 'answer_0000000002']) {
          const call: ReplayedCall = { protocol, answer_id, body: USAGE };
          const streamed = replay.assemble(eventsIn(renderStream(call, whole))) ?? {};
          const plain = JSON.parse(renderWhole(call, whole));
          expect(withoutIds(streamed)).toEqual(withoutIds(plain));
          for (const answer of [streamed, plain]) {
            const [own, ...others] = idsOf(answer);
            expect(own).toBe(answer_id);
            for (const id of others) {
              expect(seen.has(id)).toBe(false);
              seen.add(id);
            }
          }
        }
      }),
    );
  });
});

test('a stream of chat completions has its usage only for those who asked for it', () => {
  const said = { text: 'x', thought: '', call: undefined };
  const whole = wholeOf('openai', ANSWERS.openai(said));
  const hasUsage = (body: object) =>
    renderStream({ protocol: 'openai', answer_id: 'a', body: { ...body } }, whole).includes(
      'prompt_tokens',
    );
  expect([{}, USAGE, {}, USAGE].map(hasUsage)).toEqual([false, true, false, true]);
});

test('an entry counts the bytes of the events that it keeps', () => {
  const said = { text: 'x'.repeat(5_000), thought: '', call: undefined };
  const kept = keptOf(ANSWERS.openai(said));
  const entry = new Entry({
    ...{ request_id: '1', organization_id: 'org_1', sketch: 1, stored_at_ms: 0, answer: kept },
    ...{ place: undefined, body_text: '', digest: undefined },
  });
  const whole = entry.wholeAnswer((each) => readAnswer('openai', each));
  const before = entry.measure();
  expect(entry.hasGrown).toBe(false);
  const call = { protocol: 'openai', answer_id: 'a', body: {} } as const;
  const { length } = renderStream(call, whole as WholeAnswer);
  expect(entry.hasGrown).toBe(true);
  expect(entry.measure()).toBeGreaterThanOrEqual(before + length - call.answer_id.length);
  renderStream(call, whole as WholeAnswer);
  expect(entry.hasGrown).toBe(false);
});
