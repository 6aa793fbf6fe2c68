import type { Sql, TransactionSql } from 'postgres';
import type { Actor } from '../../../db/audit/entry.ts';
import {
  type DebugCopy,
  type DebugCopyRow,
  insertCopy,
  readCopy,
} from '../../../db/debug/copies.ts';
import {
  closeFullWindow,
  closeWindow,
  type DebugActor,
  findWindow,
  type NewDebugWindow,
  type OpenWindow,
  openWindow,
  readOpenWindows,
} from '../../../db/debug/windows.ts';
import type { Manager } from '../../access/manager.ts';
import { Reread } from '../../actors/bus/reread.ts';
import type { Clock, IdSource } from '../../actors/clock.ts';
import { sealBytes, unsealBytes } from '../../config/seal.ts';
import { withoutDashes } from '../../errors/request-id.ts';
import { type CopiedRequest, DebugCopyDraft } from './debug-copy.ts';

/** The most bytes that all copies of one organization have together. */
export const MAX_ORGANIZATION_DEBUG_BYTES = 256 * 1024 * 1024;
/** The most copies that wait for the database. Copies above it are dropped and counted. */
const MAX_WAITING_COPIES = 1_000;

export interface DebugWindowsDeps {
  /** Writes copies. */
  readonly background: Sql;
  /** Reads and changes on behalf of a request. */
  readonly requests: Sql;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Encrypts the bodies; 32 bytes. */
  readonly key: Uint8Array;
  /** Tells the other replicas that a window was opened or closed. */
  readonly announce: (organization_id: string) => void;
  readonly onError: (error: unknown) => void;
}

/** An open window in memory. */
interface KnownWindow extends OpenWindow {
  /** When the window ends, a value of the clock. */
  readonly ends_ms: number;
}

/** What `open` needs beside the organization. */
export type WindowWish = Omit<NewDebugWindow, 'id' | 'organization_id'>;

/**
 * The debug windows of all organizations. While a window is open, the bodies of its calls are copied:
 * encrypted, for the organization only, and for a limited time. The open windows are in memory, so a
 * call without a window costs one look at an empty map.
 */
export class DebugWindows {
  /** How many copies were lost because the database was away or too slow. */
  dropped = 0;
  private known = new Map<string, KnownWindow[]>();
  private waiting: DebugCopyDraft[] = [];
  private writing: Promise<void> | undefined;
  private readonly windows: Reread;

  constructor(private readonly deps: DebugWindowsDeps) {
    const { clock, onError } = deps;
    this.windows = new Reread({ clock, onError, read: () => this.read() });
  }

  /** Reads the open windows again. Called when another replica opened or closed one. */
  onChanged(): void {
    this.windows.request();
  }

  /** Reads the open windows. Resolves when they are known. */
  start(): Promise<void> {
    return this.windows.readNow();
  }

  /** Returns the open window of a key; undefined if there is none. That of the key itself comes first. */
  windowOf({ organization_id, id }: CopiedRequest['key']): KnownWindow | undefined {
    if (this.known.size === 0) return undefined;
    const now = this.deps.clock.now();
    const open = this.known.get(organization_id)?.filter(({ ends_ms }) => ends_ms > now);
    return open?.find(({ key_id }) => key_id === id) ?? open?.find(({ key_id }) => key_id === null);
  }

  /** Begins the copy of a call. */
  begin(window: OpenWindow, about: CopiedRequest): DebugCopyDraft {
    return new DebugCopyDraft(window, about, this.onEnded);
  }

  /**
   * Opens a window for the organization of a token. Returns the window, or why there is none. After the
   * commit, the caller must call `spread`.
   */
  async open(tx: TransactionSql, { organization_id, actor }: Manager, wish: WindowWish) {
    const id = this.newId('dbg');
    const window = { ...wish, id, organization_id };
    const max_bytes = MAX_ORGANIZATION_DEBUG_BYTES;
    const result = await openWindow(tx, window, this.by(actor), max_bytes);
    if (result !== 'opened') return result;
    return (await findWindow(tx, organization_id, id)) ?? 'no_room';
  }

  /** Closes a window of the organization of a token. */
  async close({ organization_id, actor }: Manager, id: string): Promise<void> {
    await closeWindow(this.deps.requests, organization_id, id, this.by(actor));
    await this.spread(organization_id);
  }

  /**
   * Returns the copy of a call, decrypted; undefined if nothing is stored for the organization. The
   * reading is committed first.
   */
  async readCopy(
    { organization_id, actor }: Manager,
    request_id: string,
  ): Promise<DebugCopyRow | undefined> {
    const { requests, key } = this.deps;
    const row = await readCopy(requests, organization_id, request_id, this.by(actor));
    if (!row) return undefined;
    const open = (sealed: Uint8Array, part: CopyPart) =>
      unsealBytes(key, sealed, contextOf(organization_id, request_id, part));
    return {
      ...row,
      request_body: open(row.request_body, 'request'),
      answer_body: open(row.answer_body, 'answer'),
    };
  }

  /** Writes the copies that wait, then stops. */
  async stop(): Promise<void> {
    this.windows.stop();
    await this.writing;
  }

  private by(actor: Actor): DebugActor {
    return { event_id: this.newId('dbe'), actor };
  }

  private newId(prefix: string): string {
    return `${prefix}_${withoutDashes(this.deps.ids.uuid())}`;
  }

  /** Tells all replicas that the windows of an organization changed. */
  async spread(organization_id: string): Promise<void> {
    this.deps.announce(organization_id);
    await this.windows.readNow();
  }

  private async read(): Promise<void> {
    const { background, clock } = this.deps;
    // The time before the query: a window must not end too late.
    const now = clock.now();
    const known = new Map<string, KnownWindow[]>();
    for (const window of await readOpenWindows(background)) {
      const { organization_id } = window;
      const others = known.get(organization_id) ?? [];
      known.set(organization_id, [...others, { ...window, ends_ms: now + window.rest_ms }]);
    }
    this.known = known;
  }

  private readonly onEnded = (copy: DebugCopyDraft): void => {
    if (this.waiting.length >= MAX_WAITING_COPIES) {
      for (const body of [copy.request, copy.answer]) body.take();
      this.dropped += 1;
      return;
    }
    this.waiting.push(copy);
    this.writing ??= this.writeAll().finally(() => {
      this.writing = undefined;
    });
  };

  private async writeAll(): Promise<void> {
    for (let copy = this.waiting.shift(); copy; copy = this.waiting.shift()) {
      try {
        await this.write(copy);
      } catch (error) {
        this.dropped += 1;
        this.deps.onError(error);
      }
    }
  }

  /** Writes a copy. If it does not fit, the window is full or was closed, so no more are made. */
  private async write(copy: DebugCopyDraft): Promise<void> {
    const { background } = this.deps;
    const { id, organization_id } = copy.window;
    if (await insertCopy(background, id, this.sealed(copy))) return;
    await closeFullWindow(background, organization_id, id, this.newId('dbe'));
    await this.spread(organization_id);
  }

  private sealed({ about, request, answer, status, answer_type }: DebugCopyDraft): DebugCopy {
    const { id: request_id, key, path, content_type } = about;
    const { organization_id } = key;
    const seal = (body: { take(): Buffer }, part: CopyPart) =>
      sealBytes(this.deps.key, body.take(), contextOf(organization_id, request_id, part));
    return {
      ...{ organization_id, request_id, key_id: key.id, path, status },
      request: {
        type: content_type,
        bytes: request.bytes,
        sealed: seal(request, 'request'),
      },
      answer: { type: answer_type, bytes: answer.bytes, sealed: seal(answer, 'answer') },
    };
  }
}

type CopyPart = 'request' | 'answer';

/** Ties an encrypted body to its call. In another row it cannot be decrypted. */
function contextOf(organization_id: string, request_id: string, part: CopyPart): string {
  return JSON.stringify([organization_id, request_id, part]);
}
