import type { Recording } from '../../../../src/replay/recording.ts';
import { api } from '../../../api/client.ts';
import type { Call, CallMoment } from '../../../api/types.ts';
import type { Feed } from '../feed.ts';

/** The record of a request in its recording. It has no end user and no tags. */
export interface RecordedRequest extends Omit<Call, 'user' | 'metadata' | 'attempts'> {
  readonly timeline: readonly CallMoment[];
  /** How many; for operators each of them, if one failed. */
  readonly attempts: number | readonly { readonly channel_id: string }[];
  /** The channel that was used last; for operators only. */
  readonly channel?: string | null;
}

/** The recording of one request, with each actor that it touched. */
export interface RequestRecording extends Recording {
  readonly request: RecordedRequest & Record<string, unknown>;
}

/** The path of a request's recording. */
export const recordingPath = ({ path }: Feed, id: string): string =>
  `${path}/requests/${encodeURIComponent(id)}/recording`;

/** Reads the recording of a request. Throws ApiError. */
export const loadRequest = (feed: Feed, id: string, signal?: AbortSignal) =>
  api.get<RequestRecording>(recordingPath(feed, id), {}, signal);
