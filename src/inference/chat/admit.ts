import type { QuotaActor } from '../../actors/money/quota.ts';
import type { Reservation } from '../../actors/money/reservation.ts';
import type { Lookup } from '../cache/answer-cache.ts';
import type { InferenceCall } from '../call.ts';
import type { CallLimits } from '../limits/call-limits.ts';
import { reserveLimited } from '../limits/limited-reservation.ts';
import { chatBudget } from '../priced-call.ts';
import { noteBudgets, noteReserved } from '../soft/move.ts';
import { AdmittedChat } from './admitted-chat.ts';

/**
 * Counts a chat call in the limits of its key, and reserves its money. Returns a promise only if one of
 * the two must wait.
 *
 * @throws WeirError if the key may not make the call now; MoveDue if a soft limit moves it to another model.
 */
export function admitChat(
  call: InferenceCall,
  lookup: Lookup | undefined,
  quota: QuotaActor,
  limits: CallLimits | undefined,
): AdmittedChat | Promise<AdmittedChat> {
  const budget = chatBudget(call);
  const amount = budget.amountToReserve(call.stream);
  const may_move = call.may_move !== false;
  if (may_move) noteBudgets(quota.spentBudgets, may_move, undefined);
  const taking = limits?.take({
    ...{ key: call.key, model_id: call.model.id, call_id: call.request_id, may_move },
    ...{ is_concurrent: true, tokens: () => budget.max_tokens },
  });
  const tryReserve = () => quota.tryReserve(amount, call.request_id);
  const reserve = () =>
    quota.reserve(budget.admissionRequest(amount, call.signal, call.request_id));
  const reserved =
    (taking && reserveLimited(taking, call.record, { tryReserve, reserve })) ??
    tryReserve() ??
    reserve();
  const admit = (reservation: Reservation) => {
    noteReserved(reservation, may_move, call.record);
    call.record?.reserve(reservation.amount);
    if (lookup && call.record) call.record.looked_up = true;
    const max_output_tokens = budget.outputLimitFor(reservation.amount, amount);
    return new AdmittedChat(call, lookup, budget, reservation, max_output_tokens);
  };
  return reserved instanceof Promise ? reserved.then(admit) : admit(reserved);
}
