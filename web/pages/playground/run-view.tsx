import { useEffect, useState } from 'react';
import type { MadeOutput } from '../../calls/made.ts';
import { Receipt } from '../../calls/receipt.tsx';
import { ResultFile } from '../../media/result-file.tsx';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { GoLink } from '../../parts/go-link.tsx';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { duration, useNow } from '../../parts/time.tsx';
import type { Run } from './make-state.ts';

/** One call that makes something: its progress, its result, its cost. */
export function RunView({ run, stop }: { run: Run; stop: () => void }) {
  const { model, prompt, state, outputs, error, request_id, task_id } = run;
  return (
    <article className="grid min-w-0 gap-3 rounded-box border border-line bg-card p-4">
      <p>
        <bdi className="font-medium">{model}</bdi>{' '}
        <span className="break-words text-soft">{prompt}</span>
      </p>
      {state === 'running' ? <Making run={run} stop={stop} /> : null}
      {state === 'stopped' ? <p className="text-sm text-warn">Stopped.</p> : null}
      {error ? <ErrorNote error={error} /> : null}
      {outputs.map((output, at) => (
        <Output
          key={output.url ?? output.title ?? at}
          output={output}
          title={`${prompt.slice(0, 80) || model}, result ${at + 1}`}
        />
      ))}
      <div className="flex flex-wrap items-center gap-x-3 text-sm">
        {request_id === undefined ? null : <Receipt request_id={request_id} />}
        {task_id === undefined ? null : <GoLink to={`/tasks/${task_id}`}>Task</GoLink>}
      </div>
    </article>
  );
}

function Making({ run, stop }: { run: Run; stop: () => void }) {
  const { began_ms, progress, task_id, canceling } = run;
  const now = useNow(200);
  return (
    <div className="flex flex-wrap items-center gap-3">
      <div className="min-w-40 flex-1">
        <ProgressBar label="Progress" percent={progress} />
      </div>
      <span className="text-sm text-soft figures">{duration(Math.max(0, now - began_ms))}</span>
      {canceling === undefined ? (
        <Button kind="danger" onClick={stop}>
          {task_id === undefined ? 'Stop' : 'Cancel'}
        </Button>
      ) : (
        <p className="w-full text-sm text-soft">{canceling}</p>
      )}
    </div>
  );
}

function Output({ output, title }: { output: MadeOutput; title: string }) {
  const { url, text, title: own_title, blob } = output;
  return (
    <div className="grid min-w-0 gap-2">
      {own_title === undefined ? null : (
        <p className="font-medium">
          <bdi>{own_title}</bdi>
        </p>
      )}
      {url === undefined ? null : <ResultFile url={url} title={title} />}
      {blob === undefined ? null : <Sound blob={blob} title={title} />}
      {text === undefined ? null : <p className="max-w-prose whitespace-pre-wrap">{text}</p>}
    </div>
  );
}

/** A sound that came in the answer itself. */
function Sound({ blob, title }: { blob: Blob; title: string }) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  if (address === undefined) return null;
  return (
    <figure className="grid justify-items-start gap-1.5">
      {/* biome-ignore lint/a11y/useMediaCaption: the words are above it */}
      <audio src={address} controls aria-label={title} className="w-full max-w-md" />
      <figcaption className="text-sm">
        <a
          href={address}
          download={`speech.${blob.type.split('/')[1]?.split(';')[0] ?? 'audio'}`}
          className="text-accent underline"
        >
          Download
        </a>
      </figcaption>
    </figure>
  );
}
