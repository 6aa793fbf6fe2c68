import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CHAT_PATH } from '../../calls/chat-call.ts';
import { modelQuery } from '../../catalogue/queries.ts';
import { ParameterFields } from '../../contract/parameter-fields.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Field } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Snippets } from '../../snippets/snippets.tsx';
import { chatBody, chatParameters, membersOf, type Values } from './chat-body.ts';
import { ChatColumn } from './chat-column.tsx';
import { useChats } from './chat-state.ts';
import { firstModel, type SceneModels, useSceneModels } from './models.tsx';
import { MAX_COLUMNS } from './scenes.ts';

interface ChatSceneProps {
  readonly key_id: string;
  /** The models side by side. */
  readonly models: readonly string[];
  readonly chooseModels: (models: readonly string[]) => void;
}

/** A chat with one model, or with several side by side. */
export function ChatScene(props: ChatSceneProps) {
  const query = useSceneModels('chat', props.key_id);
  return (
    <Loaded query={query} height="h-96">
      {(offered) => {
        const first = firstModel(offered);
        return first === undefined ? (
          <Empty title="No chat model">No channel of this installation serves a chat model.</Empty>
        ) : (
          <Chat {...props} offered={offered} models={props.models[0] ? props.models : [first]} />
        );
      }}
    </Loaded>
  );
}

function Chat({
  key_id,
  models,
  chooseModels,
  offered,
}: ChatSceneProps & { offered: SceneModels }) {
  const chats = useChats();
  const [text, setText] = useState('');
  const [system, setSystem] = useState('');
  const [values, setValues] = useState<Values>({});
  const input = useRef<HTMLTextAreaElement>(null);
  const { data: detail, isError } = useQuery(modelQuery(models[0] ?? ''));
  const parameters = chatParameters(detail);
  const members = membersOf(values, parameters);
  const bodyOf = (column: number, question: string) =>
    chatBody({
      model: models[column] ?? '',
      earlier: chats.columns[column] ?? [],
      ...{ system, question, members },
    });
  const isEmpty = text.trim() === '';
  const send = () => {
    if (isEmpty || chats.isRunning) return;
    for (const [column, model] of models.entries()) {
      chats.ask({ column, model, question: text, body: bodyOf(column, text), key_id });
    }
    setText('');
    input.current?.focus();
  };
  const latest = chats.columns[0]?.at(-1);
  const shownBody = latest
    ? chatBody({
        model: models[0] ?? '',
        earlier: chats.columns[0]?.slice(0, -1) ?? [],
        ...{ system, question: latest.question, members },
      })
    : bodyOf(0, isEmpty ? 'Say hello.' : text);
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[repeat(auto-fit,minmax(min(100%,17rem),1fr))]">
        {models.map((model, column) => (
          <ChatColumn
            // A column is a place, not a model: the model of a place may be changed.
            // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
            key={column}
            place={column + 1}
            model={model}
            turns={chats.columns[column] ?? []}
            offered={offered}
            choose={(chosen) => chooseModels(models.with(column, chosen))}
            remove={
              models.length > 1 && !chats.isRunning
                ? () => {
                    chats.removeColumn(column);
                    chooseModels(models.toSpliced(column, 1));
                  }
                : undefined
            }
          />
        ))}
      </div>
      <form
        className="grid gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <textarea
          ref={input}
          aria-label="Message"
          placeholder="Ask something. Enter sends, Shift+Enter begins a line."
          rows={3}
          className="control"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <div className="flex flex-wrap gap-2">
          {chats.isRunning ? (
            <Button kind="danger" onClick={chats.stop}>
              Stop
            </Button>
          ) : (
            <Button kind="primary" type="submit" disabled={isEmpty}>
              {models.length > 1 ? `Send to ${models.length} models` : 'Send'}
            </Button>
          )}
          <Button
            disabled={models.length >= MAX_COLUMNS || chats.isRunning}
            onClick={() => chooseModels([...models, anotherModel(models, offered)])}
          >
            Compare another model
          </Button>
          {chats.columns.length > 0 ? (
            <Button kind="quiet" onClick={chats.clear}>
              New conversation
            </Button>
          ) : null}
        </div>
      </form>
      <details>
        <summary className="w-fit rounded px-1.5 py-0.5 text-soft hover:bg-sunk hover:text-ink">
          Parameters
        </summary>
        <div className="mt-2 grid gap-4 sm:grid-cols-2">
          <div className="sm:col-span-2">
            <Field label="System prompt" why="How every model should answer.">
              <textarea
                className="control"
                rows={2}
                value={system}
                onChange={({ target }) => setSystem(target.value)}
              />
            </Field>
          </div>
          {isError && !detail ? (
            <p className="text-sm text-warn sm:col-span-2">
              Which other parameters the model takes is unknown.
            </p>
          ) : null}
          <ParameterFields
            parameters={parameters}
            values={values}
            change={(name, value) => setValues((all) => ({ ...all, [name]: value }))}
            error={chats.columns.map((turns) => turns.at(-1)?.error).find(Boolean)}
          />
        </div>
      </details>
      <Section title="The same call">
        <Snippets call={{ scene: 'chat', path: CHAT_PATH, body: shownBody }} />
      </Section>
    </>
  );
}

/** The next model that the key may call and that no column has. */
function anotherModel(models: readonly string[], offered: SceneModels): string {
  const free = offered.models.filter(({ id }) => !models.includes(id));
  const next = free.find(({ id }) => offered.callable.has(id)) ?? free[0];
  return next?.id ?? models[0] ?? '';
}
