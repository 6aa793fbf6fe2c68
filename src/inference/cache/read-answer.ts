import { parseExact } from '../../json/exact-integers.ts';
import { editMembers } from '../../json/members.ts';
import { isObject } from '../../json/object.ts';
import { FITNESS } from '../../protocols/fitness.ts';
import type { ClientProtocol } from '../../protocols/names.ts';
import { writeOpenaiUsage } from '../../protocols/openai-usage.ts';
import { cutAtNames, withFreshNames } from '../../upstreams/replay/fresh-names.ts';
import { REPLAYS } from '../../upstreams/replay/protocols.ts';
import { eventsIn } from '../../upstreams/replay/replay.ts';
import { answerIdOf, type InferenceCall } from '../call.ts';
import type { KeptAnswer, WholeAnswer } from './kept-answer.ts';

/**
 * Reads a kept answer. Returns undefined if it cannot be read. Unless `isForFollower`, also if it must
 * not be sent later: it was cut off, refused, or made with a tool of the provider.
 */
export function readAnswer(
  protocol: ClientProtocol,
  kept: KeptAnswer,
  isForFollower = false,
): WholeAnswer | undefined {
  const replay = REPLAYS[protocol];
  try {
    const whole = kept.is_stream ? replay.assemble(eventsIn(kept.text)) : parseExact(kept.text);
    if (!isObject(whole) || !(isForFollower || FITNESS[protocol].isFit(whole))) return undefined;
    // A stream of chat completions shows its usage only to clients that asked for it.
    const lacksUsage = protocol === 'openai' && !isObject(whole['usage']) && kept.usage !== null;
    if (lacksUsage && kept.usage) whole['usage'] = writeOpenaiUsage(kept.usage);
    const text = kept.is_stream || lacksUsage ? JSON.stringify(whole) : kept.text;
    return { text, own_id: whole[replay.id], other_ids: replay.ids(whole) };
  } catch {
    return undefined;
  }
}

/** What a replayed answer shows of the call that gets it. */
export interface ReplayedCall {
  readonly protocol: ClientProtocol;
  /** The id of the new answer. */
  readonly answer_id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Returns the text that the client of a call gets: JSON, or the events of a stream. `stored` is the JSON text of the same
 * answer, if the call stores it.
 */
export function renderAnswer(
  call: InferenceCall,
  whole: WholeAnswer,
): { readonly text: string; readonly stored?: string } {
  const { protocol, body, stream, storeAnswer } = call;
  const replayed = { protocol, body, answer_id: answerIdOf(call) };
  if (stream && !storeAnswer) return { text: renderStream(replayed, whole) };
  const text = renderWhole(replayed, whole);
  if (!storeAnswer) return { text };
  return { text: stream ? renderEvents(replayed, text) : text, stored: text };
}

/** Returns the JSON text of an answer for another call, with ids of its own. */
export function renderWhole({ protocol, answer_id, body }: ReplayedCall, whole: WholeAnswer) {
  const { own_id, other_ids } = whole;
  whole.cut ??= cutAtNames(whole.text, [own_id, ...other_ids]);
  const text = withFreshNames(whole.cut, own_id, answer_id);
  const { echo } = REPLAYS[protocol];
  return echo ? editMembers(text, echo(JSON.parse(text), body)) : text;
}

/**
 * Returns the text of the events with a whole answer for another call, with ids of its own. Events that do not repeat
 * what their request says are made once, and then sent to all calls with other ids.
 */
export function renderStream(call: ReplayedCall, whole: WholeAnswer): string {
  const { protocol, answer_id, body } = call;
  const { own_id, other_ids, text } = whole;
  const { echo, form } = REPLAYS[protocol];
  if (echo) return renderEvents(call, renderWhole(call, whole));
  whole.streams ??= new Map();
  const name = form?.(body) ?? '';
  let cut = whole.streams.get(name);
  if (!cut) {
    cut = cutAtNames(renderEvents(call, text), [own_id, ...other_ids]);
    whole.streams.set(name, cut);
  }
  return withFreshNames(cut, own_id, answer_id);
}

/** Returns the text of the events with a whole answer, whose ids stay as they are. */
function renderEvents({ protocol, body }: ReplayedCall, whole_text: string): string {
  return REPLAYS[protocol].stream(parseExact(whole_text) as Record<string, unknown>, body);
}
