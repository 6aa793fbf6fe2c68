/** The events of one stream are written again for another client of the same request, as they arrive. */
import { describe, expect, test } from 'bun:test';
import { CLIENT_PROTOCOLS } from '../../../src/protocols/names.ts';
import { EventFollower } from '../../../src/upstreams/replay/follow-events.ts';
import { REPLAYS } from '../../../src/upstreams/replay/protocols.ts';
import { eventsIn } from '../../../src/upstreams/replay/replay.ts';
import { fc } from '../../support/property.ts';
import { ANSWERS, anySaid } from './said.ts';

const from_digits = '0123456789abcdef0123456789abcdef';
const to_digits = 'fedcba9876543210fedcba9876543210';
const METADATA = { owner: 'the follower' };

describe.each(CLIENT_PROTOCOLS.map((name) => [name]))('%s', (protocol) => {
  const replay = REPLAYS[protocol];

  test('the followed stream has the same content under other ids, however its events arrive', () => {
    fc.assert(
      fc.property(anySaid, fc.infiniteStream(fc.boolean()), (said, cuts) => {
        const plain = ANSWERS[protocol](said);
        const answer = { ...plain, [replay.id]: `id_${from_digits}` };
        const body = { stream_options: { include_usage: true }, metadata: METADATA };
        const events = replay.stream(answer, body).split(/(?<=\n\n)/);
        const follower = new EventFollower({ protocol, from_digits, to_digits, body });
        let [shown, waiting] = ['', ''];
        for (const event of events) {
          waiting += event;
          if (cuts.next().value === false) continue;
          shown += follower.rewrite(waiting);
          waiting = '';
        }
        shown += follower.rewrite(waiting);
        expect(shown).not.toContain(from_digits);
        const followed = replay.assemble(eventsIn(shown)) ?? {};
        expect(followed[replay.id]).toBe(`id_${to_digits}`);
        const calls = (ids: readonly unknown[]) =>
          ids.filter((id) => typeof id === 'string' && /^(call|toolu)_/.test(id));
        const own = calls(replay.ids(followed));
        expect(own).toHaveLength(calls(replay.ids(answer)).length);
        expect(own.some((id) => replay.ids(answer).includes(id))).toBe(false);
        const blank = (value: object) =>
          JSON.stringify(value).replaceAll(/"(id|call_id|responseId)":"[^"]*"/g, '"$1":""');
        const expected = protocol === 'responses' ? { ...answer, metadata: METADATA } : answer;
        expect(JSON.parse(blank(followed))).toEqual(JSON.parse(blank(expected)));
      }),
    );
  });
});
