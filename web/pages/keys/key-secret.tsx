import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Secret } from '../../parts/secret.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { chatModelOf, useCatalogue } from './models.ts';
import { snippetsOf } from './snippets.ts';

interface KeySecretProps {
  readonly secret: string;
  /** The models that the key may use; none means all. */
  readonly models: readonly string[];
  readonly onKept: () => void;
  readonly children: ReactNode;
}

/** The secret of a key, shown once, with a first call that works. */
export function KeySecret({ secret, models, onKept, children }: KeySecretProps) {
  const catalogue = useCatalogue();
  return (
    <div className="grid min-w-0 gap-4">
      {children}
      <Secret secret={secret} what="API key" />
      <Loaded query={catalogue} height="h-44">
        {(known) => <FirstCall secret={secret} model={chatModelOf(known, models)} />}
      </Loaded>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onKept}>
          I have kept the key
        </Button>
      </div>
    </div>
  );
}

function FirstCall({ secret, model }: { secret: string; model: string | undefined }) {
  if (model === undefined) {
    return (
      <p className="text-sm text-soft">
        This key may use no chat model. The page of a model shows how it is called.
      </p>
    );
  }
  const snippets = snippetsOf({ origin: location.origin, key: secret, model });
  return (
    <Tabs
      label="A first call"
      tabs={snippets.map(({ name, code }) => ({
        name,
        view: <CodeBlock code={code} what="code" />,
      }))}
    />
  );
}
