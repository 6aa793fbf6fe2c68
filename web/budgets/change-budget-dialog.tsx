import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../api/client.ts';
import type { Budget } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Amount } from '../parts/amount.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { isShownBeside } from '../parts/field.tsx';
import { say } from '../parts/said.tsx';
import { isSameChoice, saysWhenReached, WHEN_REACHED_PARAMS, type WhenReached } from './choice.ts';
import { budgetPath, rereadBudgets } from './data.ts';
import { amountOf, LimitField } from './limit-field.tsx';
import { WhenReachedField } from './when-reached.tsx';

/** Changes the limit of a budget and what happens when it is reached, and offers to take it back. */
export function ChangeBudgetDialog({ of: budget, onClose }: { of: Budget; onClose: () => void }) {
  const queries = useQueryClient();
  // What the person began with does not follow the live budget.
  const [{ id, period, limit_amount, when_reached }] = useState(budget);
  const before = Amount.ofUsd(limit_amount).exact.replace(/[$,]/g, '');
  const [limit, setLimit] = useState(before);
  const [choice, setChoice] = useState<WhenReached>(when_reached);
  const isSame = limit === before && isSameChoice(choice, when_reached);
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const changes = { limit_amount: amountOf(limit), when_reached: choice };
      const { value, etag } = await api.patchTagged<Budget>(budgetPath(id), changes);
      await rereadBudgets(queries);
      const { exact } = Amount.ofUsd(value.limit_amount);
      say(
        `The budget of each ${period} is ${exact}; then ${saysWhenReached(value.when_reached)}.`,
        async () => {
          await api.patch(budgetPath(id), { limit_amount, when_reached }, etag);
          await rereadBudgets(queries);
        },
      );
      onClose();
    });
  };
  return (
    <Dialog title={`The budget of each ${period}`} onClose={onClose} dismissible={isSame}>
      <form onSubmit={submit} className="grid gap-4">
        {error && !isShownBeside(error, ['limit_amount', ...WHEN_REACHED_PARAMS]) ? (
          <ErrorNote error={error} />
        ) : null}
        <LimitField text={limit} onChange={setLimit} error={error} />
        <WhenReachedField value={choice} onChange={setChoice} error={error} />
        <p className="text-sm text-soft">
          A lower limit stops new calls and ends none. A higher one admits calls at once.
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={isSame}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
