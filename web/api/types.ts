/** The answers of the API, typed by the functions of the server that make them. */
import type { keyRecord } from '../../src/http/management/key-record.ts';

type View<Make extends (...args: never[]) => unknown> = ReturnType<Make>;

/** An API key. */
export type ApiKey = View<typeof keyRecord>;

/** A page of a list. */
export interface List<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor?: string | null;
}
