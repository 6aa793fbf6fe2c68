/** A whole answer of an upstream: what its client gets, and what is charged. */
import type { ChannelPermit } from '../actors/channels/channel.ts';
import type { UpstreamAnswer } from '../upstreams/contract.ts';
import type { Budget } from './budget/budget.ts';
import type { ChatFollower } from './cache/chat-flight.ts';
import type { UnpaidAnswer } from './cache/flight.ts';
import { type Draft, settleCall, sourceOf } from './call.ts';
import type { Served } from './routing/route.ts';

/** Returns an answer that another call must pay. */
export function unpaidOf(
  { result: answer, permit }: Served<UpstreamAnswer>,
  budget: Budget,
): UnpaidAnswer<ChatFollower> {
  const draft = draftOf(answer, permit, budget);
  return {
    ...{ text: textOf(answer, draft), usage: draft.usage, is_fit: answer.is_fit },
    async pay({ call, reservation }) {
      const settlement = await settleCall(call, reservation, draft, 'completed');
      if (call.record) call.record.isCharged = true;
      return settlement;
    },
  };
}

/** Returns an answer as its client gets it. */
export function textOf({ withUsage, body_text }: UpstreamAnswer, { usage }: Draft): string {
  return withUsage ? withUsage(usage) : body_text;
}

/** Returns the usage of an answer, and the channel that gave it. */
export function draftOf(answer: UpstreamAnswer, permit: ChannelPermit, budget: Budget): Draft {
  return {
    usage: answer.usage ?? budget.estimate(answer.produced(), null, answer.web_searches),
    ...sourceOf(permit),
    estimated: answer.usage === null,
  };
}
