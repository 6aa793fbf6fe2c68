import { Copy } from './copy.tsx';

/** Code to read and copy. It scrolls in itself and never widens the page. */
export function CodeBlock({ code, what }: { code: string; what: string }) {
  return (
    <div className="relative w-full min-w-0 rounded-control border border-line bg-sunk">
      <pre
        tabIndex={0}
        className="overflow-x-auto p-3 pr-24 font-mono text-[0.82rem] leading-relaxed"
      >
        {code}
      </pre>
      <div className="absolute top-2 right-2 rounded bg-card">
        <Copy text={code} what={what} shown="Copy" />
      </div>
    </div>
  );
}
