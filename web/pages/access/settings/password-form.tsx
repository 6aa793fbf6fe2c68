import { type FormEvent, useState } from 'react';
import { api } from '../../../api/client.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../../parts/field.tsx';
import { Card } from '../../../parts/page.tsx';
import { say } from '../../../parts/said.tsx';
import { useHere } from '../../../shell/here.ts';

/** Changes one's own password. */
export function PasswordForm() {
  const { email } = useHere().session.person;
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const { act, isBusy, error } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = { current_password: current, new_password: next };
      await api.post('/v1/auth/password', body);
      setCurrent('');
      setNext('');
      say('Your password is changed. Your other sessions have ended.');
    });
  };
  const params = ['current_password', 'new_password'];
  return (
    <Card>
      <form onSubmit={submit} className="grid max-w-md gap-4">
        {error && !isShownBeside(error, params) ? <ErrorNote error={error} /> : null}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <Field label="Current password" param="current_password" error={error}>
          <input
            className="control"
            type="password"
            autoComplete="current-password"
            required
            value={current}
            onChange={(event) => setCurrent(event.target.value)}
          />
        </Field>
        <Field
          label="New password"
          param="new_password"
          error={error}
          why="At least 12 characters. Your sessions in other browsers end."
        >
          <input
            className="control"
            type="password"
            autoComplete="new-password"
            required
            minLength={12}
            value={next}
            onChange={(event) => setNext(event.target.value)}
          />
        </Field>
        <div>
          <Button type="submit" busy={isBusy}>
            Change the password
          </Button>
        </div>
      </form>
    </Card>
  );
}
