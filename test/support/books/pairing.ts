/** Finds out which usage line charges which work of a provider. */
import type { CallWork, JobWork, ProviderWork } from './provider-work.ts';
import { publishedJobPrice } from './published-prices.ts';
import type { UsageLine } from './usage-lines.ts';

/** What a client knows of one of its requests. It ties a provider's call to a usage line. */
export interface Witness {
  /**
   * The request's `user` or `metadata.user_id`, which Weir passes on to the provider. Each request
   * needs its own.
   */
  readonly reference: string;
  /** From `x-request-id` or from the id of the answer, without dashes; undefined if none arrived. */
  readonly request_id?: string | undefined;
  /**
   * `whole`: the client received the complete answer. `broken`: a part of it, or nothing.
   * `refused`: an error.
   */
  readonly outcome: 'whole' | 'broken' | 'refused' | 'running';
  /** The model that the client requested. Without it, the line's model is not checked. */
  readonly model?: string;
}

/** A usage line and the work that it charges. */
export type Pair = { line: UsageLine; witness: Witness | undefined } & (
  | { work: CallWork }
  | { work: JobWork }
);

export interface Pairing {
  pairs: Pair[];
  /** Work that no line charges. Other attempts of a charged request are left out. */
  uncharged: { work: CallWork | JobWork; witness: Witness | undefined }[];
  /** Lines for which no work was found. */
  unexplained: UsageLine[];
  /** Lines whose request has another line. */
  doubled: UsageLine[];
  /** Witnesses of a complete answer that neither side knows. */
  unknown: Witness[];
}

/**
 * Pairs lines and work. Certain pairs come first: jobs by their id, and calls by what their clients
 * know. The other lines are paired by channel and tokens, and then by channel and order, so that a
 * line with wrong tokens is compared with the call that it most likely charges.
 */
export function pairUp(
  lines: readonly UsageLine[],
  provider: Pick<ProviderWork, 'calls' | 'jobs'>,
  witnesses: readonly Witness[],
): Pairing {
  const pairing: Pairing = { pairs: [], uncharged: [], unexplained: [], doubled: [], unknown: [] };
  const open = withoutDoubles(lines, pairing);
  const restOfJobs = pairJobs(open, provider.jobs, pairing);
  const restOfCalls = pairCalls(restOfJobs, provider.calls, witnesses, pairing);
  pairing.unexplained.push(...restOfCalls);
  return pairing;
}

function withoutDoubles(lines: readonly UsageLine[], pairing: Pairing): UsageLine[] {
  const seen = new Set<string>();
  return lines.filter((line) => {
    const isNew = !seen.has(line.request_id);
    if (isNew) seen.add(line.request_id);
    else pairing.doubled.push(line);
    return isNew;
  });
}

/** The scenes whose charges are for jobs. */
const JOB_SCENES = new Set(['image', 'video', 'music', '3d', 'audio']);

/** Pairs the lines of jobs, and returns the other lines. */
function pairJobs(
  lines: readonly UsageLine[],
  jobs: readonly JobWork[],
  pairing: Pairing,
): UsageLine[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const waiting: UsageLine[] = [];
  const others: UsageLine[] = [];
  for (const line of lines) {
    const named = jobIdsIn(line.job).find((id) => byId.has(id));
    const work = named === undefined ? undefined : byId.get(named);
    if (work) {
      byId.delete(work.id);
      pairing.pairs.push({ line, work, witness: undefined });
    } else if (JOB_SCENES.has(line.scene)) waiting.push(line);
    else others.push(line);
  }
  // The result was in the answer to the submission, so that Weir never stored a job.
  const rest = [...byId.values()];
  for (const line of waiting) {
    const price = line.charged + line.overrun;
    const tests: ((job: JobWork) => boolean)[] = [
      ({ state }) => state !== 'failed' && state !== 'cancelled',
      ({ account }) => account === line.channel_id,
      (job) => publishedJobPrice(line.model, job) === price,
    ];
    const work = mostFitting(rest, tests);
    if (work) {
      rest.splice(rest.indexOf(work), 1);
      pairing.pairs.push({ line, work, witness: undefined });
    } else pairing.unexplained.push(line);
  }
  pairing.uncharged.push(...rest.map((work) => ({ work, witness: undefined })));
  return others;
}

/** The first job that passes all tests; if there is none, the last tests are left out. */
function mostFitting(
  jobs: readonly JobWork[],
  tests: readonly ((job: JobWork) => boolean)[],
): JobWork | undefined {
  let fitting = jobs;
  for (const passes of tests) {
    const better = fitting.filter(passes);
    if (better.length > 0) fitting = better;
  }
  return fitting[0];
}

/** The texts in a stored job that may be the id of a provider's job. */
export function jobIdsIn(job: string | null): string[] {
  return job?.match(/[\w-]+/g) ?? [];
}

/** Pairs the lines of calls, and returns the lines that are left. */
function pairCalls(
  lines: readonly UsageLine[],
  calls: readonly CallWork[],
  witnesses: readonly Witness[],
  pairing: Pairing,
): UsageLine[] {
  const byReference = Map.groupBy(calls, ({ reference }) => reference ?? '');
  const byRequest = new Map(lines.map((line) => [line.request_id, line]));
  const rest = new Set(calls);
  const unsure = new Map<CallWork, Witness>();
  for (const witness of witnesses) {
    const attempts = byReference.get(witness.reference) ?? [];
    const line = byRequest.get(witness.request_id ?? '');
    const work = line && servingAttempt(line, attempts);
    if (line && work) {
      byRequest.delete(line.request_id);
      pairing.pairs.push({ line, work, witness });
      // The other attempts were hedges or failures. A request is charged once.
      for (const attempt of attempts) rest.delete(attempt);
    } else if (attempts.length === 0) {
      if (witness.outcome === 'whole' && !line) pairing.unknown.push(witness);
    } else {
      for (const attempt of attempts) unsure.set(attempt, witness);
    }
  }
  const left = pairBySimilarity([...byRequest.values()], rest, unsure, pairing);
  for (const work of rest) pairing.uncharged.push({ work, witness: unsure.get(work) });
  return left;
}

/** The attempt that a line charges: on the line's channel, and if possible with the line's tokens. */
function servingAttempt(line: UsageLine, attempts: readonly CallWork[]): CallWork | undefined {
  const own = attempts.filter(({ account }) => account === line.channel_id);
  return (
    own.find((work) => work.outcome === 'whole' && groupOf(work) === groupOf(line)) ??
    own.find(({ outcome }) => outcome !== 'refused') ??
    own[0]
  );
}

function pairBySimilarity(
  lines: readonly UsageLine[],
  rest: Set<CallWork>,
  unsure: ReadonlyMap<CallWork, Witness>,
  pairing: Pairing,
): UsageLine[] {
  // A call whose client received an id is charged under this id, or not at all.
  const isFree = (work: CallWork) => unsure.get(work)?.request_id === undefined;
  let left = lines;
  for (const key of [groupOf, channelOf]) {
    // The last one of each list is taken first, so the lists are in reverse order.
    const open = [...rest].filter(isFree).filter(isChargeable).reverse();
    const [whole, parts] = [true, false].map((isWhole) =>
      Map.groupBy(
        open.filter(({ outcome }) => (outcome === 'whole') === isWhole),
        key,
      ),
    ) as [Map<string, CallWork[]>, Map<string, CallWork[]>];
    left = left.filter((line) => {
      const [first, second] = line.outcome === 'completed' ? [whole, parts] : [parts, whole];
      const work = first.get(key(line))?.pop() ?? second.get(key(line))?.pop();
      if (!work) return true;
      rest.delete(work);
      pairing.pairs.push({ line, work, witness: unsure.get(work) });
      return false;
    });
  }
  return [...left];
}

const isChargeable = ({ outcome, delivered_tokens }: CallWork) =>
  outcome === 'whole' || delivered_tokens > 0;

type Sided = CallWork | UsageLine;

function channelOf(side: Sided): string {
  return 'account' in side ? side.account : side.channel_id;
}

/** The channel and all tokens, as one text. */
function groupOf(side: Sided): string {
  const tokens = 'account' in side ? side.tokens : side;
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = tokens;
  return [
    channelOf(side),
    input_tokens,
    cached_input_tokens,
    cache_write_tokens,
    output_tokens,
  ].join();
}
