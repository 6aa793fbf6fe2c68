import type { Recording } from '../../../../src/replay/recording.ts';
import { Button } from '../../../parts/button.tsx';

interface SaveRecordingProps {
  readonly recording: Recording;
  /** The name of the file, without its end. */
  readonly name: string;
}

/** Saves an actor with its past as a file. Any Weir replays it, and it has no secret. */
export function SaveRecording({ recording, name }: SaveRecordingProps) {
  const save = () => {
    const text = JSON.stringify(recording, undefined, 1);
    const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    const file = `weir-${name.replace(/[^\w.-]/g, '_').slice(0, 100)}.json`;
    Object.assign(document.createElement('a'), { href: address, download: file }).click();
    URL.revokeObjectURL(address);
  };
  return (
    <Button
      onClick={save}
      title="The actor with all its kept events, for a bug report. No secrets."
    >
      Save recording
    </Button>
  );
}
