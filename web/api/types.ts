/** The answers of the API, typed by the functions of the server that make them. */
import type { keyRecord } from '../../src/http/management/key-record.ts';
import type { callView, timelineOf } from '../../src/http/management/usage/call-view.ts';
import type { UsageQuerySchema } from '../../src/http/management/usage/explore-answer.ts';
import type { publicCall, runningList } from '../../src/http/management/usage/running-view.ts';

type View<Make extends (...args: never[]) => unknown> = ReturnType<Make>;

/** An API key. */
export type ApiKey = View<typeof keyRecord>;

/** A call, as the list of requests has it. */
export type Call = View<typeof callView>;

/** One moment of a call. */
export type CallMoment = View<typeof timelineOf>[number];

/** A call with its timeline. */
export type CallDetail = Call & { readonly timeline: readonly CallMoment[] };

/** A call that runs now. */
export type RunningCall = View<typeof publicCall>;

/** The calls that run now. */
export type RunningCalls = ReturnType<typeof runningList<RunningCall>>;

/** An answer of `GET /v1/management/usage/query`. */
export type UsageQuery = (typeof UsageQuerySchema)['static'];

/** A page of a list. */
export interface List<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor?: string | null;
}
