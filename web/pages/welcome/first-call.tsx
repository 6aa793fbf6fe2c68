import { CodeBlock } from '../../parts/code-block.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Card } from '../../parts/page.tsx';

/** What the first call needs. */
export interface FirstKey {
  readonly model: string;
  /** The API key, which is shown only here; undefined for an operator who is in no organization. */
  readonly secret: string | undefined;
}

/** The key, once, and a command that works. */
export function FirstCall({ made: { model, secret } }: { made: FirstKey }) {
  if (secret === undefined) {
    return (
      <p>
        The provider is connected. You are in no organization, so invite somebody who makes an API
        key.
      </p>
    );
  }
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  const command = [
    `curl ${location.origin}/v1/chat/completions`,
    `  -H "Authorization: Bearer ${secret}"`,
    `  -H "Content-Type: application/json"`,
    `  -d '${body}'`,
  ].join(' \\\n');
  return (
    <Card>
      <div className="grid gap-3">
        <p>
          Your key: <Copy text={secret} what="key" /> It is shown only now; Weir keeps a hash.
        </p>
        <CodeBlock code={command} what="command" />
      </div>
    </Card>
  );
}
