import { useMutation } from '@tanstack/react-query';
import { Button } from '../../../parts/button.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { saveFile } from '../../../parts/save-file.ts';
import { useFeed } from '../../actors/feed.ts';
import { loadRequest } from '../../actors/request/load.ts';

/** Saves the recording of a request, which the page of recordings opens. It is read only when it is asked for. */
export function Recording({ id }: { id: string }) {
  const feed = useFeed();
  const save = useMutation({
    mutationFn: () => loadRequest(feed, id),
    onSuccess: (recording) => saveFile(id, 'json', JSON.stringify(recording, undefined, 1)),
  });
  return (
    <>
      <Button
        busy={save.isPending}
        onClick={() => save.mutate()}
        title="The call with all events of the actors that it touched, for a bug report. No prompt, no secret."
      >
        Save recording
      </Button>
      {save.error ? <ErrorNote error={save.error} /> : null}
    </>
  );
}
