import { Link } from '@tanstack/react-router';
import { Page } from '../parts/page.tsx';

/** There is no such page, or no such thing for this person: both look the same. */
export function Missing() {
  return (
    <Page
      title="Nothing is here"
      question="There is no such page, or nothing of yours has this id."
    >
      <p>
        <Link to="/" className="text-accent underline">
          Go to the overview
        </Link>
        , or press ⌘K to find something.
      </p>
    </Page>
  );
}
