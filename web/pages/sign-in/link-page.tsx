import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { SESSION_KEY, type Session, useSession } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../parts/field.tsx';
import { keptLink } from './kept-link.ts';
import { Outside } from './outside.tsx';

/** A one-time link (`GET /v1/auth/links/{link}`). */
interface OneTimeLink {
  readonly kind: 'invitation' | 'operator' | 'password';
  readonly email: string | null;
  readonly role: string | null;
  readonly organization: { readonly id: string; readonly name: string } | null;
  readonly expires_at: string;
}

const TITLES = {
  invitation: 'You are invited',
  operator: 'Set up your account',
  password: 'Choose a new password',
} as const;

/** The page of a one-time link: an invitation, the first operator, or a new password. */
export function LinkPage() {
  const link = keptLink();
  const query = useQuery({
    queryKey: ['link', link],
    queryFn: ({ signal }) => api.get<OneTimeLink>(`/v1/auth/links/${link}`, {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: link !== '',
  });
  if (link === '') {
    return (
      <Outside title="Open the link again">
        <p>A link is in no address, so that nobody else can use it. Open yours once more.</p>
      </Outside>
    );
  }
  if (query.error) {
    return (
      <Outside title="This link does not work">
        <ErrorNote error={query.error} />
        <a href="/sign-in" className="text-accent underline">
          Sign in instead
        </a>
      </Outside>
    );
  }
  if (!query.data) return <Outside title="One moment">{null}</Outside>;
  return (
    <Outside title={TITLES[query.data.kind]}>
      <LinkForm link={link} details={query.data} />
    </Outside>
  );
}

function LinkForm({ link, details }: { link: string; details: OneTimeLink }) {
  const { kind, organization, role } = details;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const session = useSession();
  const [email, setEmail] = useState(details.email ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const isSignedIn = session !== null && session?.person.email === details.email;
  const use = useMutation({
    mutationFn: () =>
      api.post<Session>(
        `/v1/auth/links/${link}`,
        bodyOf({ details, email, name, password, isSignedIn }),
      ),
    onSuccess: (next) => {
      queries.clear();
      queries.setQueryData(SESSION_KEY, next);
      navigate({ href: kind === 'operator' ? '/welcome' : '/' });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    use.mutate();
  };
  const { error } = use;
  return (
    <form onSubmit={submit} className="grid gap-4">
      {organization ? (
        <p>
          to join <bdi className="font-medium">{organization.name}</bdi> as {role}.
        </p>
      ) : null}
      {error && !isShownBeside(error, ['email', 'name', 'password']) ? (
        <ErrorNote error={error} />
      ) : null}
      {isSignedIn ? null : (
        <>
          <Field label="E-mail" param="email" error={error}>
            <input
              className="control"
              type="email"
              autoComplete="username"
              required
              readOnly={details.email !== null}
              value={email}
              onChange={(event) => setEmail(event.target.value)}
            />
          </Field>
          {kind === 'password' ? null : (
            <Field
              label="Name"
              param="name"
              error={error}
              why="Colleagues see it, e.g. in the audit log."
            >
              <input
                className="control"
                autoComplete="name"
                required
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            </Field>
          )}
          <Field
            label="Password"
            param="password"
            error={error}
            why={
              kind === 'invitation'
                ? 'At least 12 characters. If you have an account here, its password.'
                : 'At least 12 characters.'
            }
          >
            <input
              className="control"
              type="password"
              autoComplete="new-password"
              required
              minLength={12}
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          </Field>
        </>
      )}
      <Button kind="primary" type="submit" busy={use.isPending}>
        {kind === 'password' ? 'Set the password' : 'Continue'}
      </Button>
    </form>
  );
}

interface Filled {
  readonly details: OneTimeLink;
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly isSignedIn: boolean;
}

/** What the route takes: no more than the link leaves open. */
function bodyOf({ details, email, name, password, isSignedIn }: Filled): object {
  if (details.kind === 'password') return { password };
  if (isSignedIn) return {};
  return { ...(details.email === null ? { email } : {}), name, password };
}
