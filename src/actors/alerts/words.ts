import type { AlertRow } from '../../../db/alerts/alerts.ts';
import { usd } from '../../json/usd.ts';

/** How an alert is told to people. An organization reads it, so it names no channel and no provider (P5). */
export interface AlertWords {
  /** A problem stops calls now; a warning may do so later, or is for information. */
  readonly severity: 'problem' | 'warning';
  readonly text: string;
  /** What to do. */
  readonly act: string;
}

/** The figures of all kinds, as the rules write them (db/alerts). */
interface Figures {
  readonly share?: number;
  readonly is_refused?: boolean;
  readonly limit_nano_usd?: number;
  readonly used_nano_usd?: number;
  readonly window?: string;
  readonly period?: 'day' | 'week' | 'month';
  readonly budget_of?: string;
  readonly when_reached?: 'refuse' | 'warn' | 'move';
  readonly move_to?: string | null;
  readonly limit?: keyof typeof LIMITS | 'budget';
  readonly model?: string | null;
  readonly moved_to?: string | null;
  readonly until?: string;
  readonly per_day_nano_usd?: number;
  readonly crosses_at?: string;
  readonly stage?: 'low' | 'used_up';
  readonly left_nano_usd?: number;
  readonly low_nano_usd?: number;
  readonly direction?: 'high' | 'low';
  readonly day?: string;
  readonly nano_usd?: number;
  readonly usual_nano_usd?: number;
  readonly days?: number;
  readonly last_used_on?: string | null;
  readonly since?: string;
  readonly models?: readonly string[];
  readonly reasons?: readonly string[];
  readonly before?: object;
  readonly after?: object;
}

const MAX_NAMED = 5;
const dollars = (nano_usd = 0) => `$${usd(nano_usd).toFixed(2)}`;
const dayOf = (instant = '') => instant.slice(0, 10);
/** An instant in words, in UTC. */
const minuteOf = (instant: string) =>
  `${new Date(instant).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Returns the words of an alert. */
export function wordsOf({ kind, subject_kind, subject_name, figures }: AlertRow): AlertWords {
  const found = figures as Figures;
  switch (kind) {
    case 'cap_used':
    case 'budget_used':
      return ofCap(cappedOf(subject_kind, subject_name, found), found);
    case 'cap_forecast':
    case 'budget_forecast':
      return ofForecast(cappedOf(subject_kind, subject_name, found), found);
    case 'soft_limit_reached':
      return ofSoft(subject_kind, subject_name, found);
    case 'low_balance':
      return ofBalance(found);
    case 'unusual_spend':
      return ofSpend(found);
    case 'key_unused':
      return {
        severity: 'warning',
        text: `Nobody has used the key “${subject_name}” for ${found.days} days. ${lastUse(found)}`,
        act: 'Delete the key if nobody needs it.',
      };
    case 'price_changed':
      return {
        severity: 'warning',
        text: `The price of ${subject_name} changed on ${dayOf(found.since)}.`,
        act: 'Compare figures.before and figures.after. Change caps and models if needed.',
      };
    case 'channel_down':
      return ofChannel(subject_name, found);
    case 'test':
      return {
        severity: 'warning',
        text: `This is a test of the endpoint “${subject_name}”. Nothing happened.`,
        act: 'Do nothing. The endpoint receives alerts.',
      };
    default:
      return kind satisfies never;
  }
}

/** What can be used up: the cap of a key, or one window of a budget. */
interface Capped {
  readonly noun: 'cap' | 'budget';
  readonly owner: string;
  /** Names the window of a budget; '' for a cap. */
  readonly span: string;
}

const SPANS = { day: 'the day', week: 'the week from', month: 'the month from' } as const;

function cappedOf(
  subject_kind: string,
  name: string,
  { budget_of, period, window }: Figures,
): Capped {
  if (subject_kind !== 'budget')
    return { noun: 'cap', owner: `${subject_kind} “${name}”`, span: '' };
  const span = period && window ? ` for ${SPANS[period]} ${window}` : '';
  return { noun: 'budget', owner: `${budget_of} “${name}”`, span };
}

function ofCap({ noun, owner, span }: Capped, figures: Figures): AlertWords {
  const { share, is_refused, limit_nano_usd = 0, used_nano_usd = 0, until } = figures;
  const of = `${dollars(used_nano_usd)} of ${dollars(limit_nano_usd)}`;
  const isFull = share === 100;
  const { when_reached = 'refuse' } = figures;
  const rest =
    is_refused && used_nano_usd < limit_nano_usd ? ' What is left pays for no call.' : '';
  const end = span && until ? ` until ${minuteOf(until)}` : '';
  return {
    severity: isFull && when_reached === 'refuse' ? 'problem' : 'warning',
    text: isFull
      ? `The ${owner} has used its ${noun}${span}: ${of}.${rest} ${thenCalls(figures)}${end}.`
      : `The ${owner} has used ${share} % of its ${noun}${span}: ${of}.`,
    act: isFull ? `Raise the ${noun}.` : `Raise the ${noun}, or spend less.`,
  };
}

/** What happens to calls beyond a cap or a budget. */
function thenCalls({ when_reached = 'refuse', move_to }: Figures): string {
  switch (when_reached) {
    case 'refuse':
      return 'Its calls get 402 quota_exceeded';
    case 'warn':
      return 'Its calls are served with a warning';
    case 'move':
      return `Its calls move to ${move_to}, if they can,`;
    default:
      return when_reached satisfies never;
  }
}

const LIMITS = {
  requests_per_minute: 'requests per minute',
  tokens_per_minute: 'tokens per minute',
  concurrent_calls: 'calls at the same time',
} as const;

function ofSoft(subject_kind: string, name: string, figures: Figures): AlertWords {
  const { limit = 'budget', model, moved_to } = figures;
  const then = moved_to ? `moved to ${moved_to}` : 'were served with a warning';
  if (limit === 'budget') {
    const { owner, span } = cappedOf(subject_kind, name, figures);
    return {
      severity: 'warning',
      text: `The ${owner} has too little left in its budget${span}. Calls beyond it ${then}.`,
      act: 'Raise the budget, or spend less.',
    };
  }
  const of = model ? ` for ${model}` : '';
  return {
    severity: 'warning',
    text: `The key “${name}” exceeded its limit of ${LIMITS[limit]}${of}. Calls beyond it ${then}.`,
    act: 'Raise the limit, or send fewer calls.',
  };
}

function ofForecast({ noun, owner, span }: Capped, figures: Figures): AlertWords {
  const { limit_nano_usd, used_nano_usd, per_day_nano_usd, crosses_at } = figures;
  return {
    severity: 'warning',
    text:
      `The ${owner} will reach its ${noun} of ${dollars(limit_nano_usd)}${span} on ${dayOf(crosses_at)}, ` +
      `if it goes on to spend ${dollars(per_day_nano_usd)} a day. So far it has used ${dollars(used_nano_usd)}.`,
    act: `Raise the ${noun} before that day, or spend less.`,
  };
}

function ofBalance({ stage, left_nano_usd, low_nano_usd }: Figures): AlertWords {
  const isOut = stage === 'used_up';
  return {
    severity: isOut ? 'problem' : 'warning',
    text: isOut
      ? 'The balance is used up. Calls get 402 insufficient_balance.'
      : `The balance of ${dollars(left_nano_usd)} is low: less than ${dollars(low_nano_usd)}.`,
    act: 'Ask the operator for a deposit.',
  };
}

function ofSpend({ direction, day, nano_usd, usual_nano_usd }: Figures): AlertWords {
  const than = direction === 'high' ? 'more' : 'less';
  return {
    severity: 'warning',
    text: `The organization spent ${dollars(nano_usd)} on ${day}, much ${than} than its usual ${dollars(usual_nano_usd)} a day.`,
    act: 'Read GET /v1/management/usage/query with group=api_key_id to see which key spent it.',
  };
}

function lastUse({ last_used_on }: Figures): string {
  return last_used_on ? `Its last use was on ${last_used_on}.` : 'It was never used.';
}

function ofChannel(name: string, { since, models = [], reasons = [] }: Figures): AlertWords {
  const named = models.slice(0, MAX_NAMED).join(', ');
  const more = models.length > MAX_NAMED ? ` and ${models.length - MAX_NAMED} more` : '';
  const why = reasons.length > 0 ? ` (${reasons.join(', ')})` : '';
  return {
    severity: 'problem',
    text: `The channel ${name} is down since ${since}${why}. Models: ${named}${more}.`,
    act: `Read GET /v1/operator/channels/${name}/circuit-history, and test the channel.`,
  };
}
