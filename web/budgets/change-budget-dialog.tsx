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
import { ForeignNote } from '../parts/foreign-note.tsx';
import { say } from '../parts/said.tsx';
import {
  type BudgetForm,
  bodyOf,
  changeBudget,
  changesOf,
  formOf,
  hasChanges,
  rebased,
} from './change.ts';
import { saysWhenReached, WHEN_REACHED_PARAMS } from './choice.ts';
import { budgetPath, rereadBudgets } from './data.ts';
import { LimitField } from './limit-field.tsx';
import { nameOf } from './owner.ts';
import { WhenReachedField } from './when-reached.tsx';

interface ChangeBudgetProps {
  readonly of: Budget;
  /** The name of the key or the tag, if the page shows the budgets of several. */
  readonly owner?: string;
  readonly onClose: () => void;
}

/**
 * Changes the limit of a budget and what happens when it is reached, and offers to take it back. If somebody
 * else changed them meanwhile, nothing is overwritten: the dialog shows the budget, and the person saves again.
 */
export function ChangeBudgetDialog({ of: budget, owner, onClose }: ChangeBudgetProps) {
  const queries = useQueryClient();
  // What the person began with does not follow the live budget.
  const [base, setBase] = useState(budget);
  const [form, setForm] = useState(() => formOf(budget));
  const [isForeign, setForeign] = useState(false);
  const { act, isBusy, error } = useAct();
  const name = nameOf(base, owner);
  const changes = changesOf(formOf(base), form);
  const isSame = !hasChanges(changes);
  const change = (changed: Partial<BudgetForm>) => setForm({ ...form, ...changed });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const { value, etag, isChanged } = await changeBudget(base, bodyOf(changes));
      await rereadBudgets(queries);
      if (!isChanged) {
        setForm(rebased(formOf(base), form, formOf(value)));
        setBase(value);
        setForeign(true);
        return;
      }
      const { limit_amount, when_reached } = base;
      say(`The ${name} is ${inWords(value)}.`, async () => {
        await api.patch(budgetPath(base.id), { limit_amount, when_reached }, etag);
        await rereadBudgets(queries);
      });
      onClose();
    });
  };
  return (
    <Dialog title={`The ${name}`} onClose={onClose} dismissible={isSame}>
      <form onSubmit={submit} className="grid gap-4">
        {error && !isShownBeside(error, ['limit_amount', ...WHEN_REACHED_PARAMS]) ? (
          <ErrorNote error={error} />
        ) : null}
        {isForeign ? (
          <ForeignNote what="budget">
            <p className="mt-1 text-soft">
              It is <bdi className="text-ink">{inWords(base)}</bdi>. Saving puts your changes in its
              place.
            </p>
          </ForeignNote>
        ) : null}
        <LimitField text={form.limit} onChange={(limit) => change({ limit })} error={error} />
        <WhenReachedField
          value={form.choice}
          onChange={(choice) => change({ choice })}
          error={error}
        />
        <p className="text-sm text-soft">
          A lower limit stops new calls and ends none. A higher one admits calls at once.
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy} disabled={isSame}>
            {isForeign ? 'Save my changes' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The settings of a budget in words. */
const inWords = ({ limit_amount, when_reached }: Budget): string =>
  `${Amount.ofUsd(limit_amount).exact}; then ${saysWhenReached(when_reached)}`;
