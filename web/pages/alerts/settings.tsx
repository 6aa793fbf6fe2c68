import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Answer, api } from '../../api/client.ts';
import type { AlertSettings } from '../../api/types.ts';
import { useAct } from '../../parts/act.ts';
import { ApiCall } from '../../parts/api-call.tsx';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Field, isShownBeside } from '../../parts/field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Card, Section } from '../../parts/page.tsx';
import { say } from '../../parts/said.tsx';
import { rereadAlerts, SETTINGS_PATH, settingsQuery } from './data.ts';

type Name = keyof AlertSettings;

const FIELDS: readonly { name: Name; label: string; why: string; none?: string }[] = [
  {
    name: 'low_balance_usd',
    label: 'Low balance, USD',
    why: 'A balance below is low. Empty: if it lasts for fewer than 3 days.',
    none: '3 days of spend',
  },
  {
    name: 'unused_days',
    label: 'Unused key, days',
    why: 'An active key that nobody uses for so long is an alert.',
  },
  {
    name: 'unusual_factor',
    label: 'Unusual spend, factor',
    why: 'A day that costs so many times the usual one, or less than the usual one divided by it.',
  },
];

/** From when on something is an alert. */
export function Settings({ canWrite }: { canWrite: boolean }) {
  return (
    <Section title="When it is an alert">
      <Card>
        <Loaded query={useQuery(settingsQuery)} height="h-32">
          {(answer) =>
            canWrite ? (
              <Form key={answer.etag} answer={answer} />
            ) : (
              <Facts
                facts={FIELDS.map(({ name, label, none }) => [
                  label,
                  textOf(answer.value, name) || none,
                ])}
              />
            )
          }
        </Loaded>
      </Card>
      <ApiCall path={SETTINGS_PATH} />
    </Section>
  );
}

function Form({ answer: { value, etag } }: { answer: Answer<AlertSettings> }) {
  const queries = useQueryClient();
  const [texts, setTexts] = useState<Partial<Record<Name, string>>>({});
  const { act, isBusy, error } = useAct();
  const changed = FIELDS.flatMap(({ name }) =>
    texts[name] === undefined || texts[name].trim() === textOf(value, name) ? [] : [name],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const body = Object.fromEntries(changed.map((name) => [name, memberOf(texts[name] ?? '')]));
      const next = await api.patchTagged<AlertSettings>(SETTINGS_PATH, body, etag);
      const before = Object.fromEntries(changed.map((name) => [name, value[name]]));
      await rereadAlerts(queries);
      say('The settings of alerts are changed.', async () => {
        await api.patch(SETTINGS_PATH, before, next.etag);
        await rereadAlerts(queries);
      });
    });
  };
  return (
    <form onSubmit={submit} className="grid gap-4">
      {error &&
      !isShownBeside(
        error,
        FIELDS.map(({ name }) => name),
      ) ? (
        <ErrorNote error={error} />
      ) : null}
      <div className="grid items-start gap-4 sm:grid-cols-3">
        {FIELDS.map(({ name, label, why, none }) => (
          <Field key={name} label={label} param={name} error={error} why={why}>
            <input
              className="control"
              inputMode="decimal"
              placeholder={none}
              value={texts[name] ?? textOf(value, name)}
              onChange={({ target }) => setTexts({ ...texts, [name]: target.value })}
            />
          </Field>
        ))}
      </div>
      <div>
        <Button type="submit" busy={isBusy} disabled={changed.length === 0}>
          Save
        </Button>
      </div>
    </form>
  );
}

const textOf = (value: AlertSettings, name: Name): string =>
  value[name] === null ? '' : String(value[name]);

/** The number of a text. What is no number is sent as it is, so that the API says what is wrong with it. */
function memberOf(text: string): number | string | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}
