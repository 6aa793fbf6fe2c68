import type { RecordedActor, RecordedEvent } from '../../../../src/replay/recording.ts';
import { eventWords } from '../../../../src/replay/why-words.ts';
import type { CallMoment } from '../../../api/types.ts';
import { NAMES } from '../names.ts';
import type { RecordedRequest } from './load.ts';

/** Who takes part in a request: the call itself, an actor, or the ledger. */
export interface Lane {
  readonly id: string;
  readonly title: string;
  /** The actor of the lane; undefined for the call, its attempts and the ledger. */
  readonly actor?: Pick<RecordedActor, 'kind' | 'id' | 'replica'> | undefined;
  /** Why the lane has no step. */
  readonly silence?: string | undefined;
}

/** One step of a request: a moment of the call, or an event that an actor took. */
export interface Step {
  /** Since the arrival of the request, ms. Events of actors are exact to the millisecond. */
  readonly at_ms: number;
  readonly lane: string;
  readonly says: string;
  readonly isBad?: boolean;
  /** The event, for a step of an actor. */
  readonly event?: RecordedEvent;
  /** The actor, which the page shows after this event. */
  readonly actor?: Lane['actor'];
  /** The money that moved, nano-USD. */
  readonly nano_usd?: number;
}

/** The way of one request through the actors. */
export interface Way {
  readonly lanes: readonly Lane[];
  /** In the order of their times. */
  readonly steps: readonly Step[];
  /** The last step, ms since the arrival. */
  readonly whole_ms: number;
}

const CALL: Lane = { id: 'call', title: 'The call' };
const ATTEMPTS: Lane = { id: 'attempts', title: 'Attempts' };
const LEDGER: Lane = { id: 'ledger', title: 'Ledger' };
/** The order in which a call meets the actors. */
const ORDER = ['quota', 'channel', 'task', 'batch', 'webhook'];

/** Returns which actor of a request's recording saw which event when. Reads nothing. */
export function wayOf(request: RecordedRequest, recorded: readonly RecordedActor[]): Way {
  const arrived = arrivalOf(request);
  const actors = recorded.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  const own = actors.flatMap((actor) =>
    actor.events
      .filter((event) => isOf(request, actor, event))
      .flatMap((event) => stepsOfEvent(actor, event, Date.parse(event.at) - arrived)),
  );
  const moments = request.timeline.flatMap((moment) => stepsOfMoment(request, moment, actors));
  const steps = [...moments, ...own].toSorted(inOrder);
  const has = (lane: string) => steps.some((step) => step.lane === lane);
  const lanes = [
    CALL,
    ...actors.filter(({ kind }) => kind === 'quota').map((actor) => laneOf(actor, has)),
    ...(has(ATTEMPTS.id) ? [ATTEMPTS] : []),
    ...actors.filter(({ kind }) => kind !== 'quota').map((actor) => laneOf(actor, has)),
    ...(has(LEDGER.id) ? [LEDGER] : []),
  ];
  return { lanes, steps, whole_ms: Math.max(...steps.map(({ at_ms }) => at_ms), 0) };
}

/** The date of a call is when its money was reserved, or its arrival if none was. */
function arrivalOf({ date, timeline }: RecordedRequest): number {
  const reserved = timeline.find(({ stage }) => stage === 'reserved');
  return Date.parse(date) - (reserved?.at_ms ?? 0);
}

/** Events of actors have whole milliseconds. In the same one, a call asks for money first. */
function inOrder(a: Step, b: Step): number {
  const rank = ({ actor }: Step) => (actor === undefined ? 0 : actor.kind === 'quota' ? -1 : 1);
  return Math.floor(a.at_ms) - Math.floor(b.at_ms) || rank(a) - rank(b) || a.at_ms - b.at_ms;
}

/** A task, a webhook or a batch serves the request alone; a quota and a channel serve many calls. */
function isOf(
  { request_id, task_id }: RecordedRequest,
  { kind }: RecordedActor,
  event: RecordedEvent,
): boolean {
  if (kind !== 'quota' && kind !== 'channel') return true;
  return event.request_id === request_id || (task_id !== undefined && event.task_id === task_id);
}

const idOf = ({ kind, id, replica }: RecordedActor): string => `${kind}/${id}/${replica ?? ''}`;

const SILENT: Readonly<Record<string, string>> = {
  quota: 'The grant of the key covered the call, so this quota took no event for it.',
  channel: 'Its events of this call are no longer kept, or on another replica.',
};

function laneOf(actor: RecordedActor, has: (lane: string) => boolean): Lane {
  const { kind, id, replica } = actor;
  const title = NAMES[kind] ?? kind;
  const silence = has(idOf(actor)) ? undefined : SILENT[kind];
  return { id: idOf(actor), title, actor: { kind, id, replica }, silence };
}

function stepsOfEvent(actor: RecordedActor, event: RecordedEvent, at_ms: number): Step[] {
  const { kind, id, replica } = actor;
  const shared = { at_ms, event, actor: { kind, id, replica } };
  const { type } = event.event;
  const moved = [
    [event.money?.held_nano_usd ?? 0, 'held'],
    [event.money?.settled_nano_usd ?? 0, 'charged'],
    [event.money?.released_nano_usd ?? 0, 'released'],
  ] as const;
  return [
    { ...shared, lane: idOf(actor), says: eventWords(kind, type) },
    ...moved
      .filter(([nano_usd]) => nano_usd > 0)
      .map(([nano_usd, says]) => ({ ...shared, lane: LEDGER.id, says, nano_usd })),
  ];
}

const ATTEMPT = /^attempt_(\d+)$/;
const MOMENTS: Readonly<Record<string, readonly [lane: string, says: string]>> = {
  arrived: [CALL.id, 'the request arrived'],
  authenticated: [CALL.id, 'its API key was accepted'],
  reserved: [CALL.id, 'it was admitted: its money was reserved'],
  first_token: [ATTEMPTS.id, 'the first token came'],
  ended: [CALL.id, 'its answer ended'],
  settled: [LEDGER.id, 'its charge was committed'],
};

/** The steps of a moment. Operators see attempts in the lane of their channel. */
function stepsOfMoment(
  request: RecordedRequest,
  { stage, at_ms, until_ms, result }: CallMoment,
  actors: readonly RecordedActor[],
): Step[] {
  const attempt = ATTEMPT.exec(stage)?.[1];
  if (attempt === undefined) {
    const [lane, says] = MOMENTS[stage] ?? [CALL.id, stage];
    const isAnswer = lane === ATTEMPTS.id;
    return [{ at_ms, says, lane: isAnswer ? lastLane(request, actors) : lane }];
  }
  const lane = laneOfChannel(channelOf(request, Number(attempt)), request, actors);
  const begun: Step = { at_ms, lane, says: `attempt ${attempt} was sent` };
  if (typeof until_ms !== 'number' || typeof result !== 'string') return [begun];
  const failed = { lane, says: `attempt ${attempt} failed: ${result}`, isBad: true };
  return [begun, { at_ms: until_ms, ...failed }];
}

function channelOf({ attempts, channel }: RecordedRequest, attempt: number): string | undefined {
  if (typeof attempts === 'number') return channel ?? undefined;
  return attempts[attempt - 1]?.channel_id ?? channel ?? undefined;
}

/** The lane of the attempt that answered. */
function lastLane(request: RecordedRequest, actors: readonly RecordedActor[]): string {
  const { attempts } = request;
  const count = typeof attempts === 'number' ? attempts : attempts.length;
  return laneOfChannel(channelOf(request, count), request, actors);
}

function laneOfChannel(
  channel: string | undefined,
  { logical_model }: RecordedRequest,
  actors: readonly RecordedActor[],
): string {
  const found = actors.find(
    ({ kind, id }) => kind === 'channel' && id === `${channel}/${logical_model}`,
  );
  return found ? idOf(found) : ATTEMPTS.id;
}
