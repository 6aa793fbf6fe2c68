import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../api/client.ts';
import { SESSION_KEY, type Session } from '../api/session.ts';
import { Button } from '../parts/button.tsx';
import { ErrorNote } from '../parts/error-note.tsx';
import { Field, isShownBeside } from '../parts/field.tsx';

interface SignInFormProps {
  /** The address of who was signed in. */
  readonly email?: string;
  readonly onSignedIn: () => void;
}

/** E-mail and password. */
export function SignInForm({ email: known = '', onSignedIn }: SignInFormProps) {
  const [email, setEmail] = useState(known);
  const [password, setPassword] = useState('');
  const queries = useQueryClient();
  const signIn = useMutation({
    mutationFn: () => api.post<Session>('/v1/auth/sign-in', { email, password }),
    onSuccess: (session) => {
      queries.setQueryData(SESSION_KEY, session);
      onSignedIn();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  const { error } = signIn;
  return (
    <form onSubmit={submit} className="grid gap-4">
      {error && !isShownBeside(error, ['email', 'password']) ? <ErrorNote error={error} /> : null}
      <Field label="E-mail" param="email" error={error}>
        <input
          className="control"
          type="email"
          autoComplete="username"
          required
          autoFocus={known === ''}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      <Field label="Password" param="password" error={error}>
        <input
          className="control"
          type="password"
          autoComplete="current-password"
          required
          autoFocus={known !== ''}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      <Button kind="primary" type="submit" busy={signIn.isPending}>
        Sign in
      </Button>
    </form>
  );
}
