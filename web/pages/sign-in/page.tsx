import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Field } from '../../parts/field.tsx';
import { SignInForm } from '../../shell/sign-in-form.tsx';
import { Outside } from './outside.tsx';

/** How people may sign in (`GET /v1/auth/methods`). */
interface Methods {
  readonly password: boolean;
  readonly oidc: boolean;
  /** True if a forgotten password can be replaced by mail. */
  readonly mail: boolean;
}

/** The sign-in. It returns to the page that was asked for. */
export function SignInPage() {
  const { return_to = '/' } = useSearch({ from: '/sign-in' });
  const navigate = useNavigate();
  const session = useSession();
  const { data: methods } = useQuery({
    queryKey: ['methods'],
    queryFn: ({ signal }) => api.get<Methods>('/v1/auth/methods', {}, signal),
  });
  const goOn = () => navigate({ href: ownPath(return_to) });
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever is signed in already goes on once
  useEffect(() => {
    if (session) goOn();
  }, [session]);
  return (
    <Outside title="Sign in">
      <SignInForm onSignedIn={goOn} />
      {methods?.oidc ? (
        <a
          className="rounded-control border border-edge bg-card px-3 py-1.5 text-center font-medium hover:bg-sunk"
          href={`/v1/auth/oidc/start?return_to=${encodeURIComponent(ownPath(return_to))}`}
        >
          Sign in with your organization’s account
        </a>
      ) : null}
      {methods?.mail ? <ForgottenPassword /> : null}
      {methods && !methods.mail ? (
        <p className="text-sm text-soft">
          Forgot the password? An admin of your installation can give you a link for a new one.
        </p>
      ) : null}
    </Outside>
  );
}

/**
 * A path of this address. Anything else, which a foreign link may name, is the overview. Browsers read
 * `//host` and `/\host` as addresses of another host, and leave tabs and line ends out.
 */
function ownPath(path: string): string {
  return /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) ? path : '/';
}

function ForgottenPassword() {
  const [email, setEmail] = useState('');
  const [state, setState] = useState<'asked' | 'busy' | undefined>();
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setState('busy');
    setError(undefined);
    try {
      await api.post('/v1/auth/password-reset', { email });
      setState('asked');
    } catch (failure) {
      setState(undefined);
      setError(failure);
    }
  };
  if (state === 'asked') {
    return (
      <p role="status" className="text-sm">
        If this address belongs to somebody here, a link is on its way to it.
      </p>
    );
  }
  return (
    <details className="text-sm">
      <summary className="text-accent">Forgot the password?</summary>
      <form onSubmit={submit} className="mt-3 grid gap-3">
        {error ? <ErrorNote error={error} /> : null}
        <Field label="E-mail" why="A link for a new password is sent there. It works once.">
          <input
            className="control"
            type="email"
            required
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
        <Button type="submit" busy={state === 'busy'}>
          Send the link
        </Button>
      </form>
    </details>
  );
}
