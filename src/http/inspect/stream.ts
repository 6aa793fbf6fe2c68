import { Type } from '@sinclair/typebox';
import { validator } from '../../errors/validate.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Frame } from '../../inference/inspection/frames.ts';
import { sessionOf, statelyFrames } from '../../inference/inspection/stately.ts';
import { OPERATOR, type Viewer } from '../../inference/inspection/viewer.ts';
import {
  isFrame,
  type Positions,
  type WatchedNews,
} from '../../inference/inspection/watched-stream.ts';
import { checkedStream } from '../checked-stream.ts';
import type { Handler } from '../endpoint.ts';
import { choiceParameter, nameParameter, readQuery } from '../management/list-query.ts';
import type { InspectScope } from './scope.ts';

/** The most actors that a stream remembers as introduced. Then it introduces them again. */
const MAX_INTRODUCED = 10_000;
const MAX_ID_CHARS = 8_000;

/** `GET …/inspect/events`. */
export const WatchActorsSchema = Type.Object(
  {
    kind: choiceParameter(['task', 'batch', 'webhook', 'quota', 'channel']),
    id: nameParameter(),
    organization_id: nameParameter(),
    definitions: choiceParameter(['true', 'false']),
  },
  { additionalProperties: false },
);
const validate = validator(WatchActorsSchema);

/**
 * `GET …/inspect/events`: the events of all actors of all replicas as they happen, as server-sent events
 * in the form that `@statelyai/inspect` reads. The header `Last-Event-ID` resumes a stream, also on
 * another replica. `gap` says that frames are missing, so the client reads the list again. `skipped` counts frames that came too fast.
 */
export function streamInspected(scope: InspectScope): Handler {
  return async (context) => {
    const viewer = await scope.admit(context);
    const { request } = context;
    const { definitions, ...filter } = readQuery(request, validate);
    if (viewer.organization_id !== null && filter.organization_id !== undefined) {
      throw new WeirError('invalid_request', 'Only operators may send organization_id.', {
        param: 'organization_id',
      });
    }
    const { frames } = scope.deps.inspection();
    const stream = await frames.open(
      viewer,
      filter,
      positionsOf(request.headers.get('last-event-id') ?? ''),
    );
    const introduced = new Set<string>();
    return checkedStream({
      ...{ context, source: stream, admit: () => scope.admit(context) },
      textOf: ({ news, positions }) => {
        const texts = news.flatMap((each) =>
          textsOf(viewer, each, introduced, definitions !== 'false'),
        );
        return endedBy(texts, positions);
      },
    });
  };
}

/** The texts of the events of one piece of news. */
function textsOf(
  viewer: Viewer,
  news: WatchedNews,
  introduced: Set<string>,
  hasDefinitions: boolean,
): string[] {
  if (!isFrame(news)) return [namedEvent(viewer, news)];
  const session = sessionOf(viewer, news);
  const isNew = !introduced.has(session);
  if (introduced.size >= MAX_INTRODUCED) introduced.clear();
  introduced.add(session);
  return isNew || viewer !== OPERATOR
    ? dataOf(statelyFrames(viewer, news, isNew, hasDefinitions))
    : dataForOperators(news);
}

const dataOf = (frames: readonly object[]) =>
  frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`);

/** All operators see the same of an actor that they know, so its texts are made once. */
const seenByOperators = new WeakMap<Frame, string[]>();

function dataForOperators(frame: Frame): string[] {
  const known = seenByOperators.get(frame);
  if (known) return known;
  const made = dataOf(statelyFrames(OPERATOR, frame, false, false));
  seenByOperators.set(frame, made);
  return made;
}

/**
 * Joins the texts of events. Only the last one has an id, so a client that lost some of them gets all of them
 * again. Without events, the id alone is sent: the client then knows which frames it need not get.
 */
function endedBy(texts: readonly string[], positions: Positions): string {
  const id = idOf(positions);
  const line = id === '' ? '' : `id: ${id}\n`;
  const last = texts.at(-1) ?? ': keep-alive\n\n';
  return `${texts.slice(0, -1).join('')}${line}${last}`;
}

function namedEvent(viewer: Viewer, news: Exclude<WatchedNews, Frame>): string {
  if ('gap' in news) return 'event: gap\ndata: {}\n\n';
  const data = { replica: viewer.replica(news.replica), frames: news.skipped };
  return `event: skipped\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The most processes whose positions are in an id. */
const MAX_ORIGINS = 64;
const POSITION = /^([0-9a-f]{12})\.([0-9a-z]{1,10})$/;

/** Returns the id of an event: the name of each process, and the number of its last frame. */
function idOf(positions: Positions): string {
  return [...positions]
    .slice(-MAX_ORIGINS)
    .map(([origin, seq]) => `${origin}.${seq.toString(36)}`)
    .join('_');
}

/** Returns the positions of an id. Throws WeirError if the text is no id. */
function positionsOf(id: string): Positions | undefined {
  if (id === '') return undefined;
  const parts = id.length > MAX_ID_CHARS ? [] : id.split('_');
  const found = parts.flatMap((part) => {
    const [, origin, seq] = POSITION.exec(part) ?? [];
    return origin === undefined ? [] : [[origin, Number.parseInt(seq ?? '', 36)] as const];
  });
  if (found.length > 0 && found.length === parts.length && found.length <= MAX_ORIGINS) {
    return new Map(found);
  }
  throw new WeirError('invalid_request', 'Last-Event-ID is not the id of an event.', {
    param: 'Last-Event-ID',
    hint: 'Send the id of the last event of this stream, or leave the header out.',
  });
}
