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
import { type NewOwner, nameOf, tagOf } from './owner.ts';
import { PERIOD_SAYS, type Period } from './periods.ts';
import { TagFields, type TagForm, tagParams } from './tag-fields.tsx';
import { WhenReachedField } from './when-reached.tsx';

interface NewBudgetProps {
  readonly owner: NewOwner;
  /** The periods that are offered, i.e. those without a budget of the owner. */
  readonly periods: readonly Period[];
  readonly onClose: () => void;
}

/** The names that the fields of every budget have in errors of the API. */
const PARAMS = ['period', 'limit_amount', ...WHEN_REACHED_PARAMS];

/** The members of the body that name the owner. */
function ownerBody(owner: NewOwner, { name, value }: TagForm): object {
  if (owner === 'organization') return {};
  // A computed name makes a member also of `__proto__`.
  return owner === 'tag' ? { tag: { [name.trim()]: value.trim() } } : owner;
}

/** Adds a budget of the organization, of a key, or of a tag. */
export function NewBudgetDialog({ owner, periods, onClose }: NewBudgetProps) {
  const queries = useQueryClient();
  const isOfTag = owner === 'tag';
  const [tag, setTag] = useState<TagForm>({ name: '', value: '' });
  const [period, setPeriod] = useState(periods[0] ?? 'day');
  const [limit, setLimit] = useState('');
  const [when_reached, setWhenReached] = useState<WhenReached>('refuse');
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const settings = { period, limit_amount: amountOf(limit), when_reached };
      const body = { ...ownerBody(owner, tag), ...settings };
      const added = await api.post<Budget>(BUDGETS_PATH, body, once(body));
      await rereadBudgets(queries);
      say(`There is a ${nameOf(added, tagOf(added))} now.`);
      onClose();
    });
  };
  return (
    <Dialog
      title={isOfTag ? 'Add a budget of a tag' : 'Add a budget'}
      onClose={onClose}
      dismissible={limit === '' && tag.name === '' && tag.value === ''}
    >
      <form onSubmit={submit} className="grid gap-4">
        {error && !isShownBeside(error, isOfTag ? [...tagParams(tag), ...PARAMS] : PARAMS) ? (
          <ErrorNote error={error} />
        ) : null}
        {isOfTag ? <TagFields tag={tag} onChange={setTag} error={error} /> : null}
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
          {isOfTag
            ? 'Calls that begin from now on count, of all keys. A client chooses its tags, so this steers honest clients: to limit a client for certain, use a budget of its key.'
            : 'What was spent since the present window began counts already.'}{' '}
          A call needs free money in every budget, in the cap of its key and in the balance.
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
