import type { Sql } from 'postgres';
import {
  RECORDING_FORMAT,
  RECORDING_VERSION,
  type RecordedActor,
  type Recording,
} from '../../replay/recording.ts';
import { statePath } from '../../replay/step.ts';
import { snapshotOf } from './inspected.ts';
import type { FoundActor, Inspector } from './inspector.ts';
import { readPast, shownEvent } from './past-view.ts';
import type { Viewer } from './viewer.ts';

/** The most events of one actor in a recording. */
const MAX_EVENTS = 20_000;

/** What a request touched, beside its record. */
export interface RequestTraces {
  readonly key_id: string;
  readonly task_id: string | null;
  readonly batch_id: string | null;
  readonly model: string;
  readonly channel_ids: readonly string[];
}

/** Returns the recording of one actor. Fit for a bug report: it has only what the viewer may see. */
export async function recordActor(sql: Sql, viewer: Viewer, found: FoundActor): Promise<Recording> {
  return recordingOf(viewer, null, [await recorded(sql, viewer, found)]);
}

/** Returns the recording of one request: its record, and each actor that it touched. */
export async function recordRequest(
  inspector: Inspector,
  viewer: Viewer,
  request: Record<string, unknown>,
  traces: RequestTraces,
): Promise<Recording> {
  const { key_id, task_id, batch_id, model, channel_ids } = traces;
  const touched = [
    { kind: 'quota', id: key_id },
    ...(task_id === null ? [] : ['task', 'webhook'].map((kind) => ({ kind, id: task_id }))),
    ...(batch_id === null ? [] : [{ kind: 'batch', id: batch_id }]),
    ...[...new Set(channel_ids)].map((channel) => ({ kind: 'channel', id: `${channel}/${model}` })),
  ];
  const found = await Promise.all(touched.map((address) => inspector.findAll(viewer, address)));
  const actors = found.flat().map((actor) => recorded(inspector.sql, viewer, actor));
  return recordingOf(viewer, request, await Promise.all(actors));
}

function recordingOf(
  viewer: Viewer,
  request: Record<string, unknown> | null,
  actors: readonly RecordedActor[],
): Recording {
  return {
    ...{ format: RECORDING_FORMAT, format_version: RECORDING_VERSION },
    made_at: new Date().toISOString(),
    viewer: viewer.organization_id === null ? 'operator' : 'organization',
    ...{ request, actors },
  };
}

async function recorded(sql: Sql, viewer: Viewer, found: FoundActor): Promise<RecordedActor> {
  const past = await readPast(sql, found, MAX_EVENTS);
  const { kind, id, base, events, replayed } = past;
  const { replica, state } = found.row ?? found.memory;
  return {
    ...{ kind, id, state: replayed.length > 0 ? stateAfter(replayed) : state },
    replica: replica === '' ? null : viewer.replica(replica),
    base: base ? snapshotOf(viewer, kind, id, base.snapshot) : null,
    events: events.map((event, index) => shownEvent(viewer, past, event, replayed[index])),
  };
}

const stateAfter = (replayed: Awaited<ReturnType<typeof readPast>>['replayed']): string => {
  const last = replayed.at(-1);
  return last ? statePath(last.snapshot) : '';
};
