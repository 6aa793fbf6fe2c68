import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { ApiKey } from '../../api/types.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { Field, isShownBeside } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { BroughtModels } from './brought-models.tsx';
import type { FirstKey } from './first-call.tsx';
import { type Account, type Checked, type ChosenModel, PROVIDERS } from './providers.ts';

interface ConnectFormProps {
  /** True if the operator is in an organization, for which an API key is made. */
  readonly hasOrganization: boolean;
  readonly onMade: (key: FirstKey) => void;
}

/** Three fields: the provider, its key, and an address if it is another one. */
export function ConnectForm({ hasOrganization, onMade }: ConnectFormProps) {
  const [chosen, choose] = useState(0);
  const [api_key, setKey] = useState('');
  const [base_url, setAddress] = useState('');
  const provider = PROVIDERS[chosen] ?? PROVIDERS[0];
  const isOther = chosen === PROVIDERS.length - 1;
  const account: Account = {
    protocol: provider?.protocol ?? 'openai',
    api_key,
    ...(isOther ? { base_url } : {}),
  };
  const check = useMutation({
    mutationFn: () => api.post<Checked>('/v1/operator/channels/check', account),
  });
  const connect = useMutation({
    mutationFn: (models: readonly ChosenModel[]) => makeChannels(account, models, hasOrganization),
    onSuccess: onMade,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    check.mutate();
  };
  const change = (set: (value: string) => void) => (value: string) => {
    set(value);
    check.reset();
  };
  const { error } = check;
  return (
    <>
      <Card className="max-w-2xl">
        <form onSubmit={submit} className="grid gap-4">
          {error && !isShownBeside(error, ['api_key', 'base_url']) ? (
            <ErrorNote error={error} />
          ) : null}
          <Field label="Provider">
            <select
              className="control"
              value={chosen}
              onChange={(event) => {
                choose(Number(event.target.value));
                check.reset();
              }}
            >
              {PROVIDERS.map(({ name }, index) => (
                <option key={name} value={index}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
          {isOther ? (
            <Field
              label="Address"
              param="base_url"
              error={error}
              why="Of any server that speaks OpenAI’s chat completions, e.g. https://api.example.com/v1. Servers at home work too."
            >
              <input
                className="control"
                type="url"
                required
                placeholder="https://…/v1"
                value={base_url}
                onChange={(event) => change(setAddress)(event.target.value)}
              />
            </Field>
          ) : null}
          <Field
            label="API key"
            param="api_key"
            error={error}
            why={
              provider?.keys_at === undefined
                ? 'Weir keeps it encrypted and never shows it again.'
                : `Made at ${provider.keys_at}. Weir keeps it encrypted and never shows it again.`
            }
          >
            <input
              className="control font-mono"
              type="password"
              autoComplete="off"
              required
              placeholder={provider?.example}
              value={api_key}
              onChange={(event) => change(setKey)(event.target.value)}
            />
          </Field>
          {check.data ? null : (
            <Button kind="primary" type="submit" busy={check.isPending}>
              Test the key
            </Button>
          )}
        </form>
      </Card>
      {connect.error ? <ErrorNote error={connect.error} /> : null}
      {check.data ? (
        <BroughtModels
          checked={check.data}
          isBusy={connect.isPending}
          onChosen={(models) => connect.mutate(models)}
        />
      ) : null}
    </>
  );
}

/**
 * Makes a channel for each protocol that the chosen models need, e.g. chat and images of one account, and an
 * API key for the first call.
 */
async function makeChannels(
  account: Account,
  chosen: readonly ChosenModel[],
  hasOrganization: boolean,
): Promise<FirstKey> {
  for (const [protocol, models] of Map.groupBy(chosen, (model) => model.protocol)) {
    await api.post('/v1/operator/channels', {
      ...{ ...account, protocol },
      models: Object.fromEntries(models.map(({ id, upstream_model }) => [id, upstream_model])),
    });
  }
  const model = (chosen.find(({ category }) => category === 'chat') ?? chosen[0])?.id ?? '';
  if (!hasOrganization) return { model, secret: undefined };
  const body = { name: 'First key' };
  const { key } = await api.post<ApiKey & { key: string }>('/v1/management/api-keys', body);
  return { model, secret: key };
}
