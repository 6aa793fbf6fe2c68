/**
 * The process of open dashboards. It follows the events of each and reads again as the page does, until it
 * gets SIGTERM; then it prints how many answers it got. It looks at as few bytes as it can, because its work
 * takes CPU from the calls that are measured, and readers of a dashboard have machines of their own.
 */
/** A read that the page makes again and again. */
export interface RepeatedRead {
  readonly path: string;
  /** How often it is made, ms; undefined if it is made after events. */
  readonly every_ms?: number;
}

/** What the process gets on its standard input, as JSON. */
export interface ClientsInput {
  readonly base_url: string;
  /** One dashboard for each, as a header. */
  readonly cookies: readonly string[];
  readonly reads: readonly RepeatedRead[];
}

/** The overview reads its sums at the first event after each multiple of this time (web/pages/overview/picture.ts), ms. */
const READ_EVERY_MS = 20_000;
/** And within this time after it, ms. */
const SPREAD_MS = 2_000;

const { base_url, cookies, reads }: ClientsInput = await Bun.stdin.json();
let answered = 0;

/** Reads as a browser does, but leaves the answer compressed. */
async function read(path: string, cookie: string): Promise<void> {
  const headers = { cookie, 'accept-encoding': 'gzip, deflate, br, zstd' };
  const answer = await fetch(base_url + path, { headers, decompress: false });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  answered += 1;
}

/** The same read at another committed state: the page reads at the state of the latest event. */
function readAt(path: string, as_of: string): string {
  const url = new URL(path, 'http://weir');
  if (url.searchParams.has('as_of')) url.searchParams.set('as_of', as_of);
  return url.pathname + url.search;
}

/** Returns the id of the last event in a piece of a stream; undefined if it has none. */
function lastId(piece: Buffer): string | undefined {
  const at = piece.lastIndexOf('id: ');
  if (at < 0) return undefined;
  const end = piece.indexOf('\n', at);
  return piece.toString('latin1', at + 4, end < 0 ? undefined : end);
}

async function follow(cookie: string): Promise<void> {
  const { body } = await fetch(`${base_url}/v1/management/events`, { headers: { cookie } });
  let slot: number | undefined;
  for await (const piece of body ?? []) {
    const as_of = lastId(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)) ?? '';
    const number = Math.floor(Date.parse(as_of.split('~')[0] ?? '') / READ_EVERY_MS);
    if (Number.isNaN(number) || number === slot) continue;
    const isFirst = slot === undefined;
    slot = number;
    if (isFirst) continue;
    setTimeout(() => {
      const after = reads.filter(({ every_ms }) => every_ms === undefined);
      Promise.all(after.map(({ path }) => read(readAt(path, as_of), cookie))).catch(fail);
    }, Math.random() * SPREAD_MS);
  }
}

/** Each dashboard repeats some reads by the clock, from a time of its own on. */
function repeat(cookie: string): void {
  for (const { path, every_ms } of reads) {
    if (every_ms === undefined) continue;
    const again = () => void read(path, cookie).catch(fail);
    setTimeout(() => void setInterval(again, every_ms), Math.random() * every_ms);
  }
}

function fail(error: unknown): never {
  console.error(`dashboards: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}

process.on('SIGTERM', () => {
  console.log(answered);
  process.exit(0);
});
for (const cookie of cookies) {
  follow(cookie).catch(fail);
  repeat(cookie);
}
