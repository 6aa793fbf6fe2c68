import { Copy } from './copy.tsx';

interface SecretProps {
  readonly secret: string;
  /** What it is, e.g. `API key`. */
  readonly what: string;
  /** What to do with it. */
  readonly next: string;
}

/** A secret that is shown once, with a button that copies it. It is nowhere but here. */
export function Secret({ secret, what, next }: SecretProps) {
  return (
    <div className="grid gap-1.5 rounded-box border border-accent bg-accent-soft p-3">
      <Copy text={secret} what={what} className="justify-between text-[0.95em]!" />
      <p className="px-1 text-sm text-soft">This is the only time that it is shown. {next}</p>
    </div>
  );
}
