import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../api/client.ts';
import type { Budget } from '../api/types.ts';
import { useAct } from '../parts/act.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Field, isShownBeside } from '../parts/field.tsx';
import { useOnce } from '../parts/once.ts';
import { say } from '../parts/said.tsx';
import { WHEN_REACHED_PARAMS, type WhenReached } from './choice.ts';
import { BUDGETS_PATH, rereadBudgets } from './data.ts';
import { amountOf, LimitField } from './limit-field.tsx';
import { PERIOD_SAYS, type Period } from './periods.ts';
import { WhenReachedField } from './when-reached.tsx';

interface NewBudgetProps {
  /** The API key; null for the whole organization. */
  readonly api_key_id: string | null;
  /** The periods that have no budget yet. */
  readonly periods: readonly Period[];
  readonly onClose: () => void;
}

/** Adds a budget. It counts what was spent since its present window began. */
export function NewBudgetDialog({ api_key_id, periods, onClose }: NewBudgetProps) {
  const queries = useQueryClient();
  const [period, setPeriod] = useState(periods[0] ?? 'day');
  const [limit, setLimit] = useState('');
  const [when_reached, setWhenReached] = useState<WhenReached>('refuse');
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = { api_key_id, period, limit_amount: amountOf(limit), when_reached };
      await api.post<Budget>(BUDGETS_PATH, body, once(body));
      await rereadBudgets(queries);
      say(`There is a budget for each ${period} now.`);
      onClose();
    });
  };
  return (
    <Dialog title="Add a budget" onClose={onClose} dismissible={limit === ''}>
      <form onSubmit={submit} className="grid gap-4">
        {error && !isShownBeside(error, ['period', 'limit_amount', ...WHEN_REACHED_PARAMS]) ? (
          <ErrorNote error={error} />
        ) : null}
        <Field
          label="Period"
          param="period"
          error={error}
          why="Windows begin at midnight in the time zone of the organization, which is a setting."
        >
          <select
            className="control"
            value={period}
            onChange={({ target }) => setPeriod(target.value as Period)}
          >
            {periods.map((each) => (
              <option key={each} value={each}>
                {PERIOD_SAYS[each]}
              </option>
            ))}
          </select>
        </Field>
        <LimitField text={limit} onChange={setLimit} error={error} />
        <WhenReachedField value={when_reached} onChange={setWhenReached} error={error} />
        <p className="text-sm text-soft">
          What was spent since the present window began counts already. A call needs free money in
          every budget, in the cap of its key and in the balance.
        </p>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Add the budget
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
