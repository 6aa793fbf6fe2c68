import { createHash } from 'node:crypto';
import DataLoader from 'dataloader';
import type { Sql } from '../../../db/client.ts';
import { findLiveSessions, type LiveSession } from '../../../db/people/sessions.ts';
import { LruCache } from '../../inference/keys/lru-cache.ts';
import type { SignInClient, SignInLibrary } from './library.ts';

/** Far more than people look at one replica. An entry has about 150 bytes. */
const MAX_VERIFIED = 10_000;
/** Sessions that one query reads: an event wakes the streams of all open pages together. */
const MAX_SESSIONS_PER_QUERY = 256;

/** A request waits at most so long for the query of others, in case that one hangs, ms. */
const MAX_SESSION_WAIT_MS = 20;

/**
 * Finds the session of a cookie. The library verifies the signature of a cookie once, because it always
 * says the same. Whether the session goes on, and who its person is, is read for each request, since a
 * change of it counts at once. Requests that arrive together share one query, and so do those that arrive while
 * a query runs: a page asks for all its parts at once, and many pages do so after the same event.
 */
export class SessionReader {
  /** The ids of the sessions of verified cookies, by the hashes of the cookies. */
  private readonly verified = new LruCache<string, string>(MAX_VERIFIED);
  private readonly loader: DataLoader<string, LiveSession | undefined>;
  /** Resolves when the latest query has ended. */
  private idle: Promise<unknown> = Promise.resolve();

  constructor(
    sql: Sql,
    private readonly library: Pick<SignInLibrary, 'find'>,
    sleep: (ms: number) => Promise<unknown> = Bun.sleep,
  ) {
    const readAll = async (ids: readonly string[]) => {
      const reading = findLiveSessions(sql, [...new Set(ids)]);
      this.idle = Promise.race([reading.catch(() => undefined), sleep(MAX_SESSION_WAIT_MS)]);
      const sessions = await reading;
      return ids.map((id) => sessions.get(id));
    };
    this.loader = new DataLoader(readAll, {
      cache: false,
      maxBatchSize: MAX_SESSIONS_PER_QUERY,
      batchScheduleFn: (read) => this.idle.then(() => process.nextTick(read)),
    });
  }

  /** Returns the session of a client's cookie; undefined for a forged cookie or an ended session. */
  async find(client: SignInClient): Promise<LiveSession | undefined> {
    const hash = createHash('sha256')
      .update(client.cookie ?? '')
      .digest('base64');
    let id = this.verified.get(hash);
    if (id === undefined) {
      id = (await this.library.find(client))?.id;
      if (id === undefined) return undefined;
      this.verified.set(hash, id);
    }
    return this.loader.load(id);
  }
}
