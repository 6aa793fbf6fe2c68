import type { ModelDetail } from '../../api/types.ts';
import type { Parameter } from '../../contract/parameters.ts';
import type { Turn } from './chat-state.ts';

/** What a form holds: the text or the choice of each parameter by its name. */
export type Values = Readonly<Record<string, string>>;

const number = (name: string, more: Partial<Parameter>): Parameter => ({
  ...{ name, isRequired: false, kind: 'number', choices: [], max_chars: undefined },
  ...{ minimum: undefined, maximum: undefined, standard: undefined, says: undefined },
  ...more,
});

/** The parameters of a chat model, by its abilities. Models that refuse one do not offer it. */
export function chatParameters(model: ModelDetail | undefined): Parameter[] {
  const { sampling, reasoning } = model?.abilities ?? {};
  return [
    number('max_completion_tokens', {
      kind: 'integer',
      minimum: 1,
      maximum: model?.max_output_tokens ?? undefined,
      says: 'The longest answer, tokens. Less money is held for a shorter one.',
    }),
    ...(sampling === 'never'
      ? []
      : [
          number('temperature', {
            ...{ minimum: 0, maximum: 2 },
            says: 'Higher values give more varied answers.',
          }),
        ]),
    ...(reasoning === undefined || reasoning.form === 'none'
      ? []
      : [
          number('reasoning_effort', {
            ...{ kind: 'choice', choices: ['low', 'medium', 'high'] },
            says: 'How long the model reasons. Reasoning is charged as output.',
          }),
        ]),
  ];
}

/** Returns the values of a form as members of a request. Empty fields are left out. */
export function membersOf(
  values: Values,
  parameters: readonly Parameter[],
): Record<string, unknown> {
  return Object.fromEntries(
    parameters.flatMap((parameter): [string, unknown][] => {
      const text = values[parameter.name]?.trim() ?? '';
      return text === '' ? [] : [[parameter.name, memberOf(text, parameter)]];
    }),
  );
}

function memberOf(text: string, { kind, choices }: Parameter): unknown {
  switch (kind) {
    case 'integer':
    case 'number':
      // A text that is no number is sent as it is: the API says what is wrong with it.
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return text === 'true';
    case 'choice':
      return choices.find((each) => String(each) === text) ?? text;
    case 'list':
      return text.split('\n').filter((line) => line.trim() !== '');
    default:
      return text;
  }
}

interface ChatInputs {
  readonly model: string;
  readonly system: string;
  readonly earlier: readonly Turn[];
  readonly question: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** Returns the body of a chat call that goes on with a conversation. */
export function chatBody({
  model,
  system,
  earlier,
  question,
  members,
}: ChatInputs): Readonly<Record<string, unknown>> {
  const messages = [
    ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
    ...earlier
      .filter(({ answer }) => answer !== '')
      .flatMap((turn) => [
        { role: 'user', content: turn.question },
        { role: 'assistant', content: turn.answer },
      ]),
    { role: 'user', content: question },
  ];
  return { model, messages, ...members, stream: true };
}
