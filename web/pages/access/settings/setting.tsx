import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { api } from '../../../api/client.ts';
import type { Organization } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { Card } from '../../../parts/page.tsx';
import { say } from '../../../parts/said.tsx';
import { useHere } from '../../../shell/here.ts';
import { boundsOf, choicesOf, titleOf, wordsOf } from './bounds.ts';

type Described = Organization['settings'][keyof Organization['settings']];

interface SettingProps {
  readonly name: string;
  readonly setting: Described;
  readonly etag: string | undefined;
}

/** A setting of the organization: what it does, its value, its default and its bounds. A change can be undone. */
export function Setting({ name, setting, etag }: SettingProps) {
  const id = useId();
  const queries = useQueryClient();
  const canChange = useHere().may('settings.write');
  const { act, isBusy, error } = useAct();
  const { value, schema } = setting;
  const patch = async (next: unknown, tag?: string) => {
    await api.patch('/v1/management/organization', { [name]: next }, tag);
    await queries.invalidateQueries({ queryKey: ['organization'] });
  };
  const change = (next: unknown) =>
    act(async () => {
      await patch(next, etag);
      say(`${titleOf(name)}: ${wordsOf(next)}.`, () => patch(value));
    });
  return (
    <Card className="grid gap-2">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
        <div className="min-w-0 flex-1 basis-72">
          <h3 id={id} className="font-medium">
            {titleOf(name)}
          </h3>
          <p className="text-soft">{schema.description}</p>
          <p className="text-sm text-soft">
            Default: {wordsOf(setting.default)}. {boundsOf(schema)}
          </p>
        </div>
        {canChange ? (
          <Control id={id} setting={setting} isBusy={isBusy} change={change} />
        ) : (
          <p className="font-medium">{wordsOf(value)}</p>
        )}
      </div>
      {error ? <ErrorNote error={error} /> : null}
    </Card>
  );
}

interface ControlProps {
  readonly id: string;
  readonly setting: Described;
  readonly isBusy: boolean;
  readonly change: (value: unknown) => void;
}

function Control({ id, setting: { value, schema }, isBusy, change }: ControlProps) {
  if (schema['type'] === 'boolean') {
    return (
      <input
        type="checkbox"
        className="mt-1 size-5"
        aria-labelledby={id}
        checked={value === true}
        disabled={isBusy}
        onChange={(event) => change(event.target.checked)}
      />
    );
  }
  const choices = choicesOf(schema);
  if (choices) {
    return (
      <select
        className="control max-w-40"
        aria-labelledby={id}
        value={String(value)}
        disabled={isBusy}
        onChange={(event) => change(event.target.value)}
      >
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  return <TextControl key={String(value)} {...{ id, value, schema, isBusy, change }} />;
}

function TextControl({
  id,
  value,
  schema,
  isBusy,
  change,
}: Omit<ControlProps, 'setting'> & Pick<Described, 'value' | 'schema'>) {
  const [text, setText] = useState(value === null ? '' : String(value));
  const isNumber = ['number', 'integer'].includes(String(schema['type']));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = text.trim();
    if (trimmed === '') change(null);
    else change(isNumber && !Number.isNaN(Number(trimmed)) ? Number(trimmed) : trimmed);
  };
  return (
    <form onSubmit={submit} className="flex min-w-0 gap-2">
      <input
        className="control max-w-40"
        aria-labelledby={id}
        inputMode={isNumber ? 'decimal' : 'text'}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" busy={isBusy}>
        Save
      </Button>
    </form>
  );
}
