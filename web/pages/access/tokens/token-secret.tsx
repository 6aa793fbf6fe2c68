import type { Token } from '../../../api/types.ts';
import { Button } from '../../../parts/button.tsx';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { Secret } from '../../../parts/secret.tsx';

interface TokenSecretProps {
  readonly made: Token & { readonly token: string };
  readonly onKept: () => void;
}

/** The secret of a token, shown once, with a first call that works. */
export function TokenSecret({ made: { name, token, scopes }, onKept }: TokenSecretProps) {
  const isForMoney = scopes.every((scope) => scope === 'billing');
  const path = isForMoney ? '/v1/management/balance' : '/v1/management/api-keys';
  return (
    <div className="grid min-w-0 gap-4">
      <p>
        <bdi className="font-medium">{name}</bdi> works now. It is good for {scopes.join(', ')}.
      </p>
      <Secret secret={token} what="token" next="Keep it where your program reads it." />
      <CodeBlock
        code={`curl ${location.origin}${path} \\\n  -H "Authorization: Bearer ${token}"`}
        what="command"
      />
      <div className="flex justify-end">
        <Button kind="primary" onClick={onKept}>
          I have kept the token
        </Button>
      </div>
    </div>
  );
}
