import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../../api/client.ts';
import { ApiError } from '../../../api/error.ts';
import type { OwnKey } from '../../../api/types.ts';
import { useAct } from '../../../parts/act.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../../parts/field.tsx';
import { counted } from '../../../parts/figures.ts';
import { Fold } from '../../../parts/fold.tsx';
import { useOnce } from '../../../parts/once.ts';
import { say } from '../../../parts/said.tsx';
import { OWN_KEYS_PATH, rereadOwnKeys } from './data.ts';
import { KeyField } from './key-field.tsx';
import { modelsOfText } from './models-text.ts';
import {
  ModelsField,
  NameField,
  OWN_KEY_PARAMS,
  PriorityField,
  priorityOf,
} from './own-key-fields.tsx';
import { PROTOCOLS, protocolOf } from './protocols.ts';

const NEW = { protocol: 'openai', api_key: '', base_url: '', dialect: '', api_version: '' };
const PARAMS = [...Object.keys(NEW), ...OWN_KEY_PARAMS];

/** What few accounts need. */
const SELDOM = [
  {
    name: 'dialect',
    label: 'Dialect',
    none: 'As the address says',
    why: 'The vendor whose differences from OpenAI Weir follows, e.g. groq.',
  },
  {
    name: 'api_version',
    label: 'API version',
    none: 'None',
    why: 'Of Azure’s interface, e.g. 2025-04-01-preview. Other providers have none.',
  },
] as const;

/** Adds a key for an account at a provider. The provider must accept it first. */
export function AddOwnKeyDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [account, setAccount] = useState(NEW);
  const [form, setForm] = useState({ name: '', models: '', priority: '' });
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const { address, example } = protocolOf(account.protocol);
  const set = (name: keyof typeof NEW) => (value: string) =>
    setAccount({ ...account, [name]: value });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act(async () => {
      const models = modelsOfText(form.models);
      const body = {
        ...Object.fromEntries(Object.entries(account).filter(([, value]) => value.trim() !== '')),
        ...(form.name.trim() === '' ? {} : { name: form.name }),
        ...(models ? { models } : {}),
        ...(form.priority.trim() === '' ? {} : { priority: priorityOf(form.priority) }),
      };
      const made = await api.post<OwnKey>(OWN_KEYS_PATH, body, once(body));
      await rereadOwnKeys(queries);
      say(`“${made.name}” serves ${counted(made.models.length, 'model')} now.`);
      onClose();
    });
  };
  const text = (name: keyof typeof NEW, more: object = {}) => (
    <input
      className="control"
      value={account[name]}
      onChange={(event) => set(name)(event.target.value)}
      {...more}
    />
  );
  const refused = error instanceof ApiError ? error.details.param : undefined;
  const fields = { form, onChange: setForm, error };
  return (
    <Dialog title="Add a key of a provider" onClose={onClose} dismissible={account === NEW}>
      <form onSubmit={submit} className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {error && !isShownBeside(error, PARAMS) ? <ErrorNote error={error} /> : null}
        <Field
          label="Provider"
          param="protocol"
          error={error}
          why="Who has the account, or whose protocol the address speaks."
        >
          <select
            className="control"
            value={account.protocol}
            onChange={({ target }) => set('protocol')(target.value)}
          >
            {PROTOCOLS.map(({ protocol, name }) => (
              <option key={protocol} value={protocol}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <KeyField
          value={account.api_key}
          onChange={set('api_key')}
          error={error}
          example={example}
        />
        {address === undefined ? null : (
          <Field
            label="Address"
            param="base_url"
            error={error}
            why="An https address of the public internet. Weir checks it at each connection."
          >
            {text('base_url', { type: 'url', required: true, placeholder: address })}
          </Field>
        )}
        <ModelsField {...fields} />
        <div className="divide-y divide-line rounded-box border border-line">
          {address === undefined ? (
            <Fold
              label="Address"
              words={account.base_url || 'The provider’s own'}
              isRefused={refused === 'base_url'}
            >
              <Field
                label="Address"
                param="base_url"
                error={error}
                why="Of another server that speaks this protocol: https, in the public internet."
              >
                {text('base_url', { type: 'url', placeholder: 'https://…/v1' })}
              </Field>
            </Fold>
          ) : null}
          {SELDOM.map(({ name, label, none, why }) => (
            <Fold
              key={name}
              label={label}
              words={account[name] || none}
              isRefused={refused === name}
            >
              <Field label={label} param={name} error={error} why={why}>
                {text(name)}
              </Field>
            </Fold>
          ))}
          <Fold label="Name" words={form.name || 'As the provider'} isRefused={refused === 'name'}>
            <NameField {...fields} />
          </Fold>
          <Fold
            label="Order"
            words={form.priority || '0: with the other own keys'}
            isRefused={refused === 'priority'}
          >
            <PriorityField {...fields} />
          </Fold>
        </div>
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            Test and add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
