import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Model } from '../../api/types.ts';
import { exampleCall } from '../../catalogue/example.ts';
import { modelsQuery } from '../../catalogue/queries.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/code-block.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Secret } from '../../parts/secret.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { LANGUAGES, snippetOf } from '../../snippets/languages.ts';
import { withKey } from '../../snippets/with-key.ts';
import { chatModelOf } from './models.ts';

interface KeySecretProps {
  readonly secret: string;
  /** The models that the key may use; none means all. */
  readonly models: readonly string[];
  readonly onKept: () => void;
  readonly children: ReactNode;
}

/** The secret of a key, shown once, with a first call that works. */
export function KeySecret({ secret, models, onKept, children }: KeySecretProps) {
  const catalogue = useQuery(modelsQuery());
  return (
    <div className="grid min-w-0 gap-4">
      {children}
      <Secret secret={secret} what="API key" next="Keep it where your program reads it." />
      <Loaded query={catalogue} height="h-44">
        {(known) => <FirstCall secret={secret} models={known} allowed={models} />}
      </Loaded>
      <div className="flex justify-end">
        <Button kind="primary" onClick={onKept}>
          I have kept the key
        </Button>
      </div>
    </div>
  );
}

interface FirstCallProps {
  readonly secret: string;
  readonly models: readonly Model[];
  /** The models that the key may use; none means all. */
  readonly allowed: readonly string[];
}

function FirstCall({ secret, models, allowed }: FirstCallProps) {
  // The catalogue is read again and again. What stands here to be copied stays.
  const [model] = useState(() => chatModelOf(models, allowed));
  if (model === undefined) {
    return (
      <p className="text-sm text-soft">
        This key may use no chat model. The page of a model shows how it is called.
      </p>
    );
  }
  const call = exampleCall(model);
  const tabs = LANGUAGES.flatMap((name) => {
    const code = snippetOf(name, call, location.origin);
    if (code === undefined) return [];
    return [{ name, view: <CodeBlock code={withKey(code, secret)} what="code" /> }];
  });
  return <Tabs label="A first call" tabs={tabs} />;
}
