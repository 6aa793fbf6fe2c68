import { useRouter } from '@tanstack/react-router';
import { ErrorNote } from '../parts/error-note.tsx';
import { Page } from '../parts/page.tsx';

/** A page that could not be shown. */
export function Broken({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <Page title="This page did not open">
      <ErrorNote error={error} retry={() => router.invalidate()} />
    </Page>
  );
}
