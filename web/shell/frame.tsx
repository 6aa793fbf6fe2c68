import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { api, whenSessionEnds } from '../api/client.ts';
import { hereOf, type Session } from '../api/session.ts';
import { LiveEvents } from '../live/live-events.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SaidLine } from '../parts/said.tsx';
import { HereContext } from './here.ts';
import { Navigation } from './navigation.tsx';
import { usePaletteKeys } from './palette-keys.ts';
import { SignInForm } from './sign-in-form.tsx';
import { askToSignInAgain, signedInAgain, useSignedOut } from './signed-out.ts';
import { useTheme } from './theme.ts';
import { Wordmark } from './wordmark.tsx';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** The frame around every page of a person who is signed in. */
export function Frame({ session }: { session: Session }) {
  const { org } = useSearch({ from: '__root__' });
  const here = useMemo(() => hereOf(session, org), [session, org]);
  const [isPaletteOpen, showPalette] = useState(false);
  const [isMenuOpen, showMenu] = useState(false);
  const isSignedOut = useSignedOut();
  const queries = useQueryClient();
  // Before anybody is signed in, no session can end.
  useEffect(() => {
    whenSessionEnds(askToSignInAgain);
    return () => {
      whenSessionEnds(() => undefined);
      signedInAgain();
    };
  }, []);
  const openPalette = useCallback(() => showPalette(true), []);
  usePaletteKeys(openPalette);
  const signOut = async () => {
    await api.post('/v1/auth/sign-out').catch(() => undefined);
    location.assign('/sign-in');
  };
  return (
    <HereContext value={here}>
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:absolute focus:z-30 focus:bg-card focus:p-3"
      >
        Skip to the page
      </a>
      <div className="min-h-dvh lg:grid lg:grid-cols-[13.5rem_minmax(0,1fr)] print:block!">
        <header className="border-line max-lg:border-b print:hidden! lg:sticky lg:top-0 lg:flex lg:h-dvh lg:flex-col lg:gap-6 lg:border-r lg:p-4">
          <div className="flex items-center justify-between gap-2 max-lg:px-4 max-lg:py-2">
            <Wordmark />
            <button
              type="button"
              className="rounded-control border border-edge px-3 py-1 lg:hidden"
              aria-expanded={isMenuOpen}
              onClick={() => showMenu(!isMenuOpen)}
            >
              Menu
            </button>
          </div>
          <div
            className={`${isMenuOpen ? '' : 'max-lg:hidden'} grid gap-5 max-lg:p-4 lg:flex lg:min-h-0 lg:flex-1 lg:flex-col lg:overflow-y-auto`}
          >
            <button
              type="button"
              onClick={openPalette}
              className="flex items-center justify-between rounded-control border border-line bg-card px-3 py-1 text-soft hover:border-edge"
            >
              Go anywhere <kbd className="font-mono text-xs">⌘K</kbd>
            </button>
            <Navigation here={here} onChosen={() => showMenu(false)} />
            <div className="mt-auto grid gap-2">
              <OrganizationSwitch session={session} chosen={here.organization?.id} />
              <PersonPart session={session} signOut={signOut} />
            </div>
          </div>
        </header>
        <main id="page" tabIndex={-1} className="min-w-0 outline-none">
          <Outlet />
        </main>
      </div>
      {here.organization && here.may('usage.read') ? (
        // A session that ended took the stream with it, so the next session begins another one.
        <LiveEvents
          key={`${here.organization.id} ${session.id}`}
          organization_id={here.organization.id}
        />
      ) : null}
      <SaidLine />
      {isPaletteOpen ? (
        <Suspense>
          <Palette here={here} onClose={() => showPalette(false)} signOut={signOut} />
        </Suspense>
      ) : null}
      {isSignedOut ? (
        <Dialog title="Sign in again" dismissible={false} onClose={() => undefined}>
          <p className="text-soft">
            Your session has ended. What you typed on the page is still there.
          </p>
          <SignInForm
            email={session.person.email}
            onSignedIn={() => {
              signedInAgain();
              queries.invalidateQueries();
            }}
          />
        </Dialog>
      ) : null}
    </HereContext>
  );
}

function OrganizationSwitch({ session, chosen }: { session: Session; chosen: string | undefined }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { organizations } = session;
  if (organizations.length === 0) {
    return <p className="px-3 text-sm text-soft">You are in no organization yet.</p>;
  }
  if (organizations.length === 1) {
    return (
      <p className="px-3 text-sm text-soft" title="Your organization">
        <bdi>{organizations[0]?.name}</bdi>
      </p>
    );
  }
  return (
    <label className="grid gap-1 text-sm text-soft">
      <span className="px-1">Organization</span>
      <select
        className="control"
        value={chosen}
        onChange={(event) => {
          queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
          navigate({ to: '/', search: { org: event.target.value } });
        }}
      >
        {organizations.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function PersonPart({ session, signOut }: { session: Session; signOut: () => void }) {
  const { theme, next, choose } = useTheme();
  const { name, email } = session.person;
  const act = 'rounded-control px-2 py-1 text-sm text-soft hover:bg-sunk hover:text-ink';
  return (
    <div className="border-t border-line pt-2">
      <p className="truncate px-2" title={email}>
        <bdi>{name}</bdi>
      </p>
      <div className="flex flex-wrap">
        <button
          type="button"
          className={act}
          onClick={() => choose(next)}
          title={`Use the ${next} theme`}
        >
          Theme: {theme}
        </button>
        <button type="button" className={act} onClick={signOut}>
          Sign out
        </button>
      </div>
    </div>
  );
}
