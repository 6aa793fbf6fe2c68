import type { Budget } from '../budget/budget.ts';
import type { InferenceCall } from '../call.ts';
import type { Flight, Follower } from './flight.ts';

/** A chat call that follows another one. */
export interface ChatFollower extends Follower<InferenceCall> {
  readonly budget: Budget;
}

export type ChatFlight = Flight<ChatFollower>;
