import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { useAct } from '../../../parts/act.ts';
import { ApiCall } from '../../../parts/api-call.tsx';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/confirm.tsx';
import { Copy } from '../../../parts/copy.tsx';
import { ErrorNote } from '../../../parts/error-note.tsx';
import { useOnce } from '../../../parts/once.ts';
import { Card, Section } from '../../../parts/page.tsx';
import { say } from '../../../parts/said.tsx';

const PATH = '/v1/management/webhook-secret';

interface Secret {
  readonly secret: string;
}

/** The secret that signs webhooks. It is read only when the reader asks to see it. */
export function WebhookSecret() {
  const [secret, setSecret] = useState<string>();
  const [isAsking, ask] = useState(false);
  const once = useOnce();
  const { act, isBusy, error } = useAct();
  const show = () => act(async () => setSecret((await api.get<Secret>(PATH)).secret));
  const rotate = async () => {
    const body = { was: secret ?? '' };
    setSecret((await api.post<Secret>(`${PATH}/rotate`, {}, once(body))).secret);
    say('The webhook secret is replaced.');
  };
  return (
    <Section title="Secret">
      <Card className="grid gap-3">
        <p className="max-w-prose text-soft">
          Weir signs each webhook with it (Standard Webhooks). Your server checks the signature, so
          it knows that the webhook comes from here.
        </p>
        {error ? <ErrorNote error={error} /> : null}
        {secret === undefined ? null : <Copy text={secret} what="webhook secret" />}
        <div className="flex flex-wrap gap-2">
          {secret === undefined ? (
            <Button busy={isBusy} onClick={show}>
              Show the secret
            </Button>
          ) : (
            <Button onClick={() => setSecret(undefined)}>Hide the secret</Button>
          )}
          <Button kind="danger" onClick={() => ask(true)}>
            Replace it…
          </Button>
        </div>
        <ApiCall path={PATH} />
      </Card>
      {isAsking ? (
        <Confirm
          title="Replace the webhook secret?"
          label="Replace the secret"
          act={rotate}
          onClose={() => ask(false)}
        >
          <p>
            Webhooks are signed with the new secret at once. A server that still has the old one
            refuses them, until you give it the new one. Weir tries refused webhooks again.
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}
