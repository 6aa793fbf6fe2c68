import { useMemo, useState } from 'react';
import {
  parseRecording,
  type RecordedActor,
  type Recording,
  RecordingError,
} from '../../../../src/replay/recording.ts';
import { wordsFor } from '../../../../src/replay/words.ts';
import { Badge } from '../../../parts/badge.tsx';
import { GoLink } from '../../../parts/go-link.tsx';
import { Page, Section } from '../../../parts/page.tsx';
import { Time } from '../../../parts/time.tsx';
import { NAMES } from '../names.ts';
import { historyOf } from '../one/history.ts';
import { PastView } from '../one/past-view.tsx';
import type { ActorSearch } from '../search.ts';
import { toneOf } from '../tones.ts';

/** Replays the file of a recording. The file stays in the browser. */
export function RecordingPage() {
  const [recording, setRecording] = useState<Recording>();
  const [problem, setProblem] = useState<string>();
  const [chosen, choose] = useState(0);
  const open = async (file: File | undefined) => {
    if (!file) return;
    setRecording(undefined);
    setProblem(undefined);
    choose(0);
    try {
      setRecording(parseRecording(await file.text()));
    } catch (error) {
      if (!(error instanceof RecordingError)) throw error;
      setProblem(error.message);
    }
  };
  const actor = recording?.actors[chosen];
  return (
    <Page title="Recording" question="What happened there? It is replayed in this browser only.">
      <div className="grid gap-2 rounded-box border border-dashed border-edge p-4">
        <label className="grid gap-1">
          <span className="text-sm text-soft">
            The file of an actor or of a request. Nothing of it is sent.
          </span>
          <input
            type="file"
            accept="application/json,.json"
            className="control"
            onChange={({ target }) => open(target.files?.[0])}
          />
        </label>
        <p className="text-sm text-soft">
          The page of an{' '}
          <GoLink to="/actors" className="underline">
            actor
          </GoLink>{' '}
          saves such a file.
        </p>
      </div>
      {problem === undefined ? null : (
        <p role="alert" className="rounded-box bg-bad-soft px-4 py-3 text-bad">
          {problem}
        </p>
      )}
      {recording ? (
        <Section title="Its actors">
          <p className="text-sm text-soft">
            Recorded <Time at={recording.made_at} />
            {recording.viewer === 'organization' ? ', as its organization sees it' : ''}.
          </p>
          <ul className="flex flex-wrap gap-2">
            {recording.actors.map((each, index) => (
              <li key={`${each.kind}/${each.id}/${each.replica}`}>
                <button
                  type="button"
                  aria-pressed={index === chosen}
                  onClick={() => choose(index)}
                  className="grid gap-0.5 rounded-box border border-line bg-card px-3 py-1.5 text-left text-sm hover:border-edge aria-pressed:border-accent aria-pressed:bg-accent-soft"
                >
                  <span>
                    {NAMES[each.kind] ?? each.kind}{' '}
                    <Badge tone={toneOf(each.kind, each.state)}>
                      <span className="font-mono">{each.state}</span>
                    </Badge>
                  </span>
                  <code className="font-mono text-[0.85em] break-all">{each.id}</code>
                </button>
              </li>
            ))}
          </ul>
          {recording.actors.length === 0 ? <p>The recording has no actor.</p> : null}
        </Section>
      ) : null}
      {actor ? <Replayed key={chosen} actor={actor} /> : null}
    </Page>
  );
}

function Replayed({ actor }: { actor: RecordedActor }) {
  const [search, change] = useState<Pick<ActorSearch, 'at' | 'state'>>({});
  const history = useMemo(() => historyOf(actor), [actor]);
  const words = wordsFor(actor.kind, actor.state);
  return (
    <>
      {words === '' ? null : <p className="text-soft">At the end of the recording, it {words}.</p>}
      <PastView history={history} search={search} change={change} />
    </>
  );
}
