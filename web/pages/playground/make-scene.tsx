import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ModelDetail } from '../../api/types.ts';
import { exampleCall } from '../../catalogue/example.ts';
import { PriceLine } from '../../catalogue/price-line.tsx';
import { modelQuery } from '../../catalogue/queries.ts';
import { ParameterFields } from '../../contract/parameter-fields.tsx';
import { type Parameter, parametersOf } from '../../contract/parameters.ts';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Snippets } from '../../snippets/snippets.tsx';
import { membersOf, type Values } from './chat-body.ts';
import { type Runs, useRuns } from './make-state.ts';
import { firstModel, ModelChoice, type SceneModels, useSceneModels } from './models.tsx';
import { RunView } from './run-view.tsx';
import type { Scene } from './scenes.ts';

interface MakeSceneProps {
  readonly scene: Exclude<Scene, 'chat'>;
  readonly key_id: string;
  readonly model: string | undefined;
  readonly choose: (model: string) => void;
}

/** Makes images, videos, music or speech with one model, and shows each result with its cost. */
export function MakeScene(props: MakeSceneProps) {
  const query = useSceneModels(props.scene, props.key_id);
  const runs = useRuns();
  return (
    <Loaded query={query} height="h-96">
      {(offered) => {
        const model = props.model ?? firstModel(offered);
        return model === undefined ? (
          <Empty title={`No model for ${props.scene}`}>
            No channel of this installation serves a model that makes {props.scene}.
          </Empty>
        ) : (
          <WithModel {...props} model={model} offered={offered} runs={runs} />
        );
      }}
    </Loaded>
  );
}

interface WithModelProps extends MakeSceneProps {
  readonly model: string;
  readonly offered: SceneModels;
  readonly runs: Runs;
}

function WithModel(props: WithModelProps) {
  const { model, offered, choose, runs } = props;
  const detail = useQuery(modelQuery(model));
  const pricing = offered.models.find(({ id }) => id === model)?.pricing;
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,22rem)_minmax(0,1fr)]">
      <div className="grid min-w-0 content-start gap-4">
        <div className="grid gap-1">
          <ModelChoice label="Model" value={model} choose={choose} {...offered} />
          <p className="flex flex-wrap justify-between gap-x-3 text-sm text-soft">
            {pricing ? <PriceLine pricing={pricing} /> : null}
            <Link to="/models/$model" params={{ model }} className="text-accent hover:underline">
              About it
            </Link>
          </p>
        </div>
        <Loaded query={detail} height="h-64">
          {(loaded) => <MakeForm key={loaded.id} {...props} detail={loaded} />}
        </Loaded>
      </div>
      <div className="grid min-w-0 content-start gap-4" aria-live="polite">
        {runs.runs.length === 0 ? (
          <p className="rounded-box border border-dashed border-edge p-6 text-soft">
            What the model makes appears here, with its cost and its time.
          </p>
        ) : (
          runs.runs.map((run) => <RunView key={run.id} run={run} stop={() => runs.stop(run.id)} />)
        )}
      </div>
    </div>
  );
}

/** Parameters that the page decides itself, or that only programs need. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  ...['prompt', 'input', 'async', 'stream', 'partial_images', 'stream_format', 'user'],
  ...['webhook_url', 'image', 'mask'],
]);
/** The voice with which the form begins, by vendor. Every speech model needs one. */
const VOICES: Readonly<Record<string, string>> = { openai: 'alloy', google: 'Kore' };

const EXAMPLES: Record<MakeSceneProps['scene'], string> = {
  image: 'A lighthouse in a storm, woodcut',
  video: 'A lighthouse in a storm, slow pan',
  music: 'A sea shanty about a lighthouse',
  speech: 'The light is on. The boats may come home.',
};

function MakeForm({ scene, key_id, detail, runs }: WithModelProps & { detail: ModelDetail }) {
  const [prompt, setPrompt] = useState('');
  const [values, setValues] = useState<Values>({ voice: VOICES[detail.owned_by] ?? '' });
  const { path, scene: shown_scene } = exampleCall(detail);
  const all = detail.contract ? parametersOf(detail.contract) : [];
  const offered = all.filter(
    ({ name, kind }) =>
      !NOT_SHOWN.has(name) &&
      kind !== 'other' &&
      !(scene !== 'speech' && name === 'response_format'),
  );
  const text_name = scene === 'speech' ? 'input' : 'prompt';
  const body = {
    model: detail.id,
    ...(prompt.trim() === '' ? {} : { [text_name]: prompt }),
    ...membersOf(values, offered),
    // A task shows its progress. Without it, the answer comes when everything is made.
    ...(all.some(({ name }) => name === 'async') ? { async: true } : {}),
  };
  const needsText = all.some(({ name, isRequired }) => name === text_name && isRequired);
  const latest = runs.runs.find(({ model }) => model === detail.id);
  const error = latest?.state === 'failed' ? latest.error : undefined;
  const isNeeded = ({ name, isRequired }: Parameter) => isRequired || name === 'voice';
  const fields = (parameters: readonly Parameter[]) => (
    <ParameterFields
      parameters={parameters}
      values={values}
      change={(name, value) => setValues((known) => ({ ...known, [name]: value }))}
      error={error}
    />
  );
  const optional = offered.filter((each) => !isNeeded(each));
  return (
    <>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          runs.begin({ model: detail.id, prompt, path, body, key_id });
        }}
      >
        <Field
          label={scene === 'speech' ? 'Text' : 'Prompt'}
          error={error}
          param={text_name}
          why={scene === 'speech' ? 'What the voice says.' : 'What the model should make.'}
        >
          <textarea
            className="control"
            rows={4}
            required={needsText}
            placeholder={EXAMPLES[scene]}
            value={prompt}
            onChange={({ target }) => setPrompt(target.value)}
          />
        </Field>
        {fields(offered.filter(isNeeded))}
        {optional.length === 0 ? null : (
          <details>
            <summary className="w-fit rounded px-1.5 py-0.5 text-soft hover:bg-sunk hover:text-ink">
              {optional.length} more {optional.length === 1 ? 'parameter' : 'parameters'}
            </summary>
            <div className="mt-2 grid gap-4">{fields(optional)}</div>
          </details>
        )}
        <div>
          <Button kind="primary" type="submit">
            Make it
          </Button>
        </div>
      </form>
      <Section title="The same call">
        <Snippets
          call={{
            ...{ scene: shown_scene, path },
            body: prompt.trim() === '' ? { ...body, [text_name]: EXAMPLES[scene] } : body,
          }}
        />
      </Section>
    </>
  );
}
