import { useState } from 'react';
import { CodeBlock } from '../parts/code-block.tsx';
import { LANGUAGES, type Language, type ShownCall, snippetOf } from './languages.ts';

/** The same call in curl and in the packages of vendors, to copy. */
export function Snippets({ call }: { call: ShownCall }) {
  const [chosen, choose] = useState<Language>('curl');
  const offered = LANGUAGES.filter((each) => snippetOf(each, call, location.origin) !== undefined);
  const language = offered.includes(chosen) ? chosen : 'curl';
  return (
    <div className="grid min-w-0 gap-2">
      <fieldset aria-label="Language" className="flex flex-wrap gap-1">
        {offered.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === language}
            onClick={() => choose(each)}
            className="min-h-8 rounded-control px-2.5 text-sm text-soft hover:bg-sunk aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
          >
            {each}
          </button>
        ))}
      </fieldset>
      <CodeBlock code={snippetOf(language, call, location.origin) ?? ''} what="code" />
    </div>
  );
}
