import { Button } from '../../parts/button.tsx';
import { Secret } from '../../parts/secret.tsx';

interface EndpointSecretProps {
  readonly name: string;
  readonly secret: string;
  readonly onKept: () => void;
}

/** The secret of a webhook of alerts, shown once. */
export function EndpointSecret({ name, secret, onKept }: EndpointSecretProps) {
  return (
    <div className="grid min-w-0 gap-4">
      <p>
        <bdi className="font-medium">{name}</bdi> receives alerts from now on. Weir signs each of
        them with this secret (Standard Webhooks), so the receiver knows that it comes from here.
      </p>
      <Secret secret={secret} what="secret" next="Keep it where the receiver reads it." />
      <div className="flex justify-end">
        <Button kind="primary" onClick={onKept}>
          I have kept the secret
        </Button>
      </div>
    </div>
  );
}
