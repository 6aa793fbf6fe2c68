import type { ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';

interface EmptyProps {
  readonly title: string;
  /** What would be here. */
  readonly children: ReactNode;
  /** The one command that puts it here. */
  readonly command?: string | undefined;
  /** The one act that puts it here. */
  readonly act?: ReactNode;
}

/** An empty place that teaches: what would be here, and what puts it here. */
export function Empty({ title, children, command, act }: EmptyProps) {
  return (
    <div className="grid justify-items-start gap-3 rounded-box border border-dashed border-edge p-6">
      <h2 className="text-base font-semibold">{title}</h2>
      <div className="max-w-prose text-soft">{children}</div>
      {act}
      {command === undefined ? null : <CodeBlock code={command} what="command" />}
    </div>
  );
}
