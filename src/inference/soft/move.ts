/** Calls that move to another model, because a soft budget or limit is reached. */
import type { NotMoved } from '../../../db/records/record.ts';
import type { ReachedBudget } from '../../actors/money/ledger-commands.ts';
import type { Reservation } from '../../actors/money/reservation.ts';
import type { CatalogueFor, CatalogueModel } from '../../catalogue/catalogue.ts';
import { costsLess, isSameKind } from '../../catalogue/cheaper.ts';
import { WeirError } from '../../errors/weir-error.ts';
import type { Caller } from '../call.ts';
import { MoveDue } from '../limits/move-due.ts';
import type { CallRecord } from '../records/call-record.ts';
import { reachedBudget } from './reached-budget.ts';

/**
 * Throws `MoveDue` if one of the exceeded budgets moves calls, and the call may move. Otherwise notes the budgets
 * in the record.
 */
export function noteBudgets(
  budgets: readonly ReachedBudget[],
  mayMove: boolean,
  record: CallRecord | undefined,
): void {
  if (budgets.length === 0) return;
  const reached = budgets.map(reachedBudget);
  const move = mayMove ? budgets.find(({ move_to }) => move_to !== null) : undefined;
  if (move) throw new MoveDue(move.move_to ?? '', reached);
  record?.reach(reached);
}

/** Like `noteBudgets`, with those that a reservation exceeds. If the call moves, the reservation is released. */
export function noteReserved(
  reservation: Reservation,
  mayMove: boolean,
  record: CallRecord | undefined,
): Reservation {
  if (reservation.reached.length === 0) return reservation;
  try {
    noteBudgets(reservation.reached, mayMove, record);
    return reservation;
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** What decides whether a call can move. */
export interface MoveDeps {
  readonly catalogue: CatalogueFor;
  /** True if the key may call the model, and a channel would take the call now. */
  readonly isCallable: (model: CatalogueModel, key: Caller) => boolean;
}

/** A call that may move. `isAble` may throw WeirError if the other model cannot serve the call. */
interface MovableCall<Model> {
  readonly key: Caller;
  readonly model: Model;
  readonly record?: CallRecord | undefined;
  readonly isAble: (other: Model) => boolean;
}

interface RunnableCall<Model, Result> extends MovableCall<Model> {
  /** Runs the call on a model. It may throw `MoveDue` only while `mayMove` is true. */
  readonly run: (model: Model, mayMove: boolean) => Promise<Result>;
}

/**
 * Runs a call. If a soft budget or limit moves it, runs it once more on the model of `modelAfter`. So a call moves
 * at most once.
 */
export async function withMove<Model extends CatalogueModel, Result>(
  deps: MoveDeps | undefined,
  call: RunnableCall<Model, Result>,
): Promise<Result> {
  if (!deps) return call.run(call.model, false);
  try {
    return await call.run(call.model, true);
  } catch (error) {
    return call.run(modelAfter(deps, call, error), false);
  }
}

/**
 * Returns the model that serves a call after the error `MoveDue`: the one that the limit names. If that model does
 * not cost less or cannot serve the call, it is the model that the call asked for. Notes it in the record. Throws
 * every other error.
 */
export function modelAfter<Model extends CatalogueModel>(
  deps: MoveDeps,
  call: MovableCall<Model>,
  error: unknown,
): Model {
  if (!(error instanceof MoveDue)) throw error;
  const { model, record } = call;
  const other = otherModel(deps, call, error.to);
  if (typeof other === 'string') {
    record?.reach(error.reached, other);
    return model;
  }
  record?.reach(error.reached);
  record?.moveFrom(model.id);
  return other;
}

function otherModel<Model extends CatalogueModel>(
  { catalogue, isCallable }: MoveDeps,
  { key, model, isAble }: MovableCall<Model>,
  to: string,
): Model | NotMoved {
  const found = catalogue(key.organization_id).find(to);
  if (!found || !isSameKind(found, model)) return 'not_able';
  if (!costsLess(found, model)) return 'not_cheaper';
  if (!isCallable(found, key)) return 'not_able';
  const other = found as Model;
  try {
    return isAble(other) ? other : 'not_able';
  } catch (error) {
    if (error instanceof WeirError) return 'not_able';
    throw error;
  }
}
