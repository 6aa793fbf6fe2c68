import type { ModelDetail } from '../../api/types.ts';
import { type Parameter, parametersOf, takenBy } from '../../contract/parameters.ts';
import { Table } from '../../parts/table.tsx';

/** The parameters of a model with their rules; for a chat model, what it takes of its protocol. */
export function Contract({ model }: { model: ModelDetail }) {
  const { contract } = model;
  if (!contract) return <ChatContract model={model} />;
  return (
    <>
      <Table
        caption="Parameters"
        rows={parametersOf(contract)}
        keyOf={({ name }) => name}
        columns={[
          {
            title: 'Parameter',
            cell: ({ name, isRequired }) => <Name {...{ name, isRequired }} />,
          },
          { title: 'Takes', cell: takenBy },
          {
            title: 'Default',
            onPhone: false,
            cell: ({ standard }) =>
              standard === undefined ? <span className="text-soft">–</span> : String(standard),
          },
          { title: 'Note', onPhone: false, cell: ({ says }: Parameter) => says ?? '' },
        ]}
      />
      {contract.rules.length === 0 ? null : (
        <ul className="list-disc pl-5 text-sm text-soft">
          {contract.rules.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Name({ name, isRequired }: { name: string; isRequired: boolean }) {
  return (
    <>
      <code className="font-mono text-[0.9em]">{name}</code>
      {isRequired ? <span className="block text-sm text-soft">required</span> : null}
    </>
  );
}

const SAMPLING: Readonly<Record<string, string>> = {
  always: 'taken',
  never: 'not taken',
  without_reasoning: 'taken without reasoning',
};

function ChatContract({ model }: { model: ModelDetail }) {
  const { abilities, max_input_tokens, max_output_tokens, capabilities } = model;
  const rows: [string, string][] = [
    ['Context window', `${max_input_tokens?.toLocaleString() ?? 'unknown'} tokens`],
    ['Longest answer', `${max_output_tokens?.toLocaleString() ?? 'unknown'} tokens`],
    ['Abilities', capabilities.join(', ').replaceAll('_', ' ')],
    ...(abilities
      ? ([
          ['Temperature and top_p', SAMPLING[abilities.sampling] ?? abilities.sampling],
          ['Reasoning', abilities.reasoning.form.replaceAll('_', ' ')],
          ['Images', listOf(abilities.images.inline)],
          ['Documents', listOf(abilities.documents.inline)],
          ['Audio', listOf(abilities.audio_input)],
        ] as [string, string][])
      : []),
  ];
  return (
    <>
      <dl className="grid gap-x-6 rounded-box border border-line bg-card px-4 py-2 sm:grid-cols-[auto_minmax(0,1fr)]">
        {rows.map(([what, value]) => (
          <div key={what} className="contents">
            <dt className="pt-1.5 text-soft sm:pb-1.5">{what}</dt>
            <dd className="sm:py-1.5">{value}</dd>
          </div>
        ))}
      </dl>
      <p className="text-sm text-soft">
        A chat model takes the parameters of the protocol in which you call it: OpenAI’s,
        Anthropic’s or Google’s.
      </p>
    </>
  );
}

const listOf = (values: readonly string[]): string =>
  values.length === 0 ? 'none' : values.join(', ');
