import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Page } from '../../parts/page.tsx';
import { useHere } from '../../shell/here.ts';
import { Arrivals } from './arrivals.tsx';
import { ConnectForm } from './connect-form.tsx';
import { FirstCall, type FirstKey } from './first-call.tsx';

/** From an empty Weir to the first true answer. */
export function WelcomePage() {
  const { session, organization } = useHere();
  const [made, setMade] = useState<FirstKey | undefined>();
  if (!session.is_operator) {
    return (
      <Page title="Connect a provider" question="Operators of this installation connect providers.">
        <p>
          Ask one of them, or{' '}
          <Link to="/" className="text-accent underline">
            look around
          </Link>
          .
        </p>
      </Page>
    );
  }
  return (
    <Page
      title={made ? 'Make the first call' : 'Connect a provider'}
      question={
        made
          ? 'Paste this into a terminal. The call appears here as soon as it reaches Weir.'
          : 'Weir tests the key, shows which models it brings and at which prices, and keeps it encrypted.'
      }
      acts={
        <Link
          to="/"
          className="inline-flex min-h-9 items-center rounded-control px-3 text-accent hover:bg-accent-soft"
        >
          {made ? 'Go to the overview' : 'Look around first'}
        </Link>
      }
    >
      {made ? (
        <FirstCall made={made} />
      ) : (
        <ConnectForm hasOrganization={organization !== undefined} onMade={setMade} />
      )}
      {made ? <Arrivals /> : <SimulatorNote />}
    </Page>
  );
}

function SimulatorNote() {
  return (
    <p className="max-w-prose text-sm text-soft">
      Until a provider is connected, a simulator answers: it speaks the providers’ protocols
      exactly, and its answers are random words. So everything can be tried without a key.
    </p>
  );
}
