/** The rules: what a usage line must say of the work that it charges, and what may stay uncharged. */
import type { Difference } from './difference.ts';
import type { Pair, Pairing, Witness } from './pairing.ts';
import type { CallWork, JobWork, LineTokens } from './provider-work.ts';
import { publishedJobPrice, publishedTokenPrice } from './published-prices.ts';
import type { UsageLine } from './usage-lines.ts';

/** A difference before the seed of the run is added. */
export type Finding = Omit<Difference, 'seed'>;

/** Circumstances of a run that decide which work may stay uncharged. */
export interface Circumstances {
  /** True if a replica was killed or lost its lease. Then a call that broke may be uncharged. */
  readonly killed: boolean;
  /** Complete answers that clients without a witness received; undefined = all of them. */
  readonly answers: number | undefined;
  /** Complete answers that are charged to clients without a witness. */
  readonly paid_answers: number;
}

/** Lines of these scenes have the tokens that the provider reported. */
const TOKEN_SCENES = new Set(['chat', 'embedding']);

/** Compares a usage line with the work that it charges. */
export function judgePair(pair: Pair): Finding[] {
  const { line, work } = pair;
  const found: Finding[] = [];
  const add = (kind: Finding['kind'], detail: string) =>
    found.push({ kind, provider_id: work.id, request_id: line.request_id, detail });
  if (work.type === 'job') judgeJob(line, work, add);
  else judgeCall(line, work, pair.witness, add);
  return found;
}

type Add = (kind: Finding['kind'], detail: string) => void;

function judgeCall(line: UsageLine, work: CallWork, witness: Witness | undefined, add: Add): void {
  if (witness?.model !== undefined && witness.model !== line.model) {
    add('wrong model', `the client requested ${witness.model}, ${line.model} is charged`);
  }
  if (work.account !== line.channel_id) {
    add('wrong outcome', `${work.account} served the call, the line names ${line.channel_id}`);
  }
  if (work.outcome !== 'whole' && work.delivered_tokens === 0) {
    add('charged without delivery', `the call ended as ${work.outcome}, ${line.charged} nano-USD`);
    return;
  }
  if (!TOKEN_SCENES.has(line.scene)) return;
  if (line.outcome === 'completed') judgeWhole(line, work, add);
  else judgePart(line, work, add);
}

/** A complete answer has the provider's tokens and their price. */
function judgeWhole(line: UsageLine, work: CallWork, add: Add): void {
  if (work.outcome !== 'whole') {
    add('wrong outcome', `charged as completed, but the provider's call ended as ${work.outcome}`);
    return;
  }
  if (line.estimated === work.usage_reported) {
    const reported = work.usage_reported ? 'reported' : 'did not report';
    add('wrong outcome', `the provider ${reported} its usage, estimated is ${line.estimated}`);
  }
  if (line.estimated) judgePrice(line, line, add);
  else if (!isEqual(line, work.tokens)) {
    add('wrong tokens', `charged ${tokensText(line)}, provided ${tokensText(work.tokens)}`);
  } else judgePrice(line, work.tokens, add);
}

/** A part of an answer costs what it contains, and never more than the whole answer. */
function judgePart(line: UsageLine, work: CallWork, add: Add): void {
  const most = work.outcome === 'whole' ? work.tokens.output_tokens : work.delivered_tokens;
  if (line.output_tokens > most) {
    add('wrong tokens', `a part with ${line.output_tokens} tokens of ${most} delivered ones`);
    return;
  }
  const whole = publishedTokenPrice(line.model, line.model_vendor, work.tokens);
  if (whole !== undefined && line.charged + line.overrun > whole) {
    add('wrong price', `a part costs ${line.charged + line.overrun}, the whole costs ${whole}`);
  }
  judgePrice(line, line, add);
}

function judgePrice(line: UsageLine, tokens: LineTokens, add: Add): void {
  comparePrices(line, publishedTokenPrice(line.model, line.model_vendor, tokens), add);
}

function judgeJob(line: UsageLine, job: JobWork, add: Add): void {
  if (job.state === 'failed' || job.state === 'cancelled') {
    add('charged without delivery', `the job ended as ${job.state}, ${line.charged} nano-USD`);
    return;
  }
  const tokens = job.tokens;
  const input = tokens && tokens.text_input + tokens.image_input;
  if (tokens && (line.input_tokens !== input || line.output_tokens !== tokens.output)) {
    add('wrong tokens', `charged ${tokensText(line)}, provided ${input} in, ${tokens.output} out`);
    return;
  }
  comparePrices(line, publishedJobPrice(line.model, job), add);
}

function comparePrices(line: UsageLine, price: number | undefined, add: Add): void {
  if (price === undefined) add('unknown price', `no published price of ${line.model} is known`);
  // What the platform absorbed is a part of the price that the client did not pay.
  else if (line.charged + line.overrun !== price) {
    const absorbed = line.overrun === 0 ? '' : ` and ${line.overrun} absorbed`;
    add('wrong price', `${line.model}: ${line.charged} charged${absorbed}, the price is ${price}`);
  }
}

/**
 * Finds work without a line that must be charged. `hasFailed` returns if the task of a job failed;
 * undefined if no task has this job.
 */
export function judgeUncharged(
  uncharged: Pairing['uncharged'],
  hasFailed: (job_id: string) => boolean | undefined,
  { killed, answers, paid_answers }: Circumstances,
): Finding[] {
  const found: Finding[] = [];
  const anonymous: CallWork[] = [];
  const missing = ({ id }: CallWork | JobWork, detail: string) =>
    found.push({ kind: 'missing line', provider_id: id, request_id: null, detail });
  for (const { work, witness } of uncharged) {
    if (work.type === 'job') {
      const failed = hasFailed(work.id);
      // The outcome of the submission may be unknown: the connection broke, or Weir was killed.
      const isUnknown = failed === undefined && (killed || work.lost);
      if (work.state === 'done' && failed !== true && !isUnknown) {
        missing(work, `${work.account}: the job is done, and not charged`);
      }
    } else if (work.outcome === 'running') {
      const detail = 'the call has not ended';
      found.push({ kind: 'unfinished call', provider_id: work.id, request_id: null, detail });
    } else if (witness === undefined) {
      if (work.outcome === 'whole') anonymous.push(work);
    } else if (witness.outcome === 'whole' && work.outcome === 'whole') {
      missing(work, `${witness.reference} was delivered: ${tokensText(work.tokens)}`);
    } else if (witness.outcome === 'broken' && !killed && isDelivered(work, witness)) {
      missing(work, `${witness.reference} was delivered in part, ${work.delivered_tokens} tokens`);
    }
  }
  // Clients that left early may be uncharged: so many, that all received answers are charged.
  const mustBePaid = answers === undefined ? anonymous.length : answers - paid_answers;
  if (killed) return found;
  for (const work of anonymous.slice(0, Math.max(0, mustBePaid))) {
    missing(work, `${work.account}: ${tokensText(work.tokens)}`);
  }
  if (mustBePaid > anonymous.length) {
    const detail = `clients received ${answers} answers, ${paid_answers} are charged as completed`;
    found.push({ kind: 'wrong outcome', provider_id: null, request_id: null, detail });
  }
  return found;
}

/** The first event of a stream carries the request id, so a client with an id received something. */
function isDelivered(work: CallWork, { request_id }: Witness): boolean {
  return request_id !== undefined && work.delivered_tokens > 0 && work.outcome !== 'refused';
}

/** Describes the lines that no work explains. */
export function judgeLines({ unexplained, doubled, unknown }: Pairing): Finding[] {
  const finding = (kind: Finding['kind'], line: UsageLine): Finding => ({
    kind,
    provider_id: null,
    request_id: line.request_id,
    detail: `${line.channel_id}, ${line.model}: ${tokensText(line)}, ${line.charged} nano-USD`,
  });
  return [
    ...doubled.map((line) => finding('doubled line', line)),
    ...unexplained.map((line) => finding('line without call', line)),
    ...unknown.map(({ reference, request_id = null }): Finding => {
      const detail = `${reference} was delivered, and neither side knows it`;
      return { kind: 'missing line', provider_id: null, request_id, detail };
    }),
  ];
}

function isEqual(line: LineTokens, provided: LineTokens): boolean {
  return tokensText(line) === tokensText(provided);
}

function tokensText(tokens: LineTokens): string {
  const { input_tokens, cached_input_tokens, cache_write_tokens, output_tokens } = tokens;
  const cache = cached_input_tokens + cache_write_tokens;
  const cached =
    cache === 0 ? '' : ` + ${cached_input_tokens} read + ${cache_write_tokens} written`;
  return `${input_tokens}${cached} in, ${output_tokens} out`;
}
