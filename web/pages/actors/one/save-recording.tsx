import type { Recording } from '../../../../src/replay/recording.ts';
import { Button } from '../../../parts/button.tsx';
import { saveFile } from '../../../parts/save-file.ts';

interface SaveRecordingProps {
  readonly recording: Recording;
  /** The name of the file, without its end. */
  readonly name: string;
}

/** Saves an actor or a request with its past as a file. Any Weir replays it, and it has no secret. */
export function SaveRecording({ recording, name }: SaveRecordingProps) {
  return (
    <Button
      onClick={() => saveFile(name, 'json', JSON.stringify(recording, undefined, 1))}
      title="All kept events, for a bug report. No secrets."
    >
      Save recording
    </Button>
  );
}
