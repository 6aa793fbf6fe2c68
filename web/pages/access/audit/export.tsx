import { send } from '../../../api/client.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { useHere } from '../../../shell/here.ts';

/**
 * Downloads the lines that the page shows as NDJSON. A link streams to the disk, but it cannot name the
 * organization; for people in several, the page reads the export itself.
 */
export function Export({ path }: { path: string }) {
  const { session } = useHere();
  const { act, isBusy, error } = useAct();
  if (session.organizations.length === 1) {
    return (
      <a
        href={path}
        download="audit-log.ndjson"
        className="inline-flex min-h-9 items-center rounded-control border border-edge bg-card px-3 py-1 font-medium hover:bg-sunk"
      >
        Download as NDJSON
      </a>
    );
  }
  const download = async () => {
    const response = await send('GET', path);
    const address = URL.createObjectURL(await response.blob());
    const link = Object.assign(document.createElement('a'), {
      ...{ href: address, download: 'audit-log.ndjson' },
    });
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <div className="grid gap-2">
      <Button busy={isBusy} onClick={() => act(download)}>
        Download as NDJSON
      </Button>
      {error ? <ErrorNote error={error} /> : null}
    </div>
  );
}
