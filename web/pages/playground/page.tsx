import { Page } from '../../parts/page.tsx';

/** Does it work, and what does it cost? */
export function PlaygroundPage() {
  return (
    <Page title="Playground" question="Does it work, and what does it cost?">
      <p />
    </Page>
  );
}
