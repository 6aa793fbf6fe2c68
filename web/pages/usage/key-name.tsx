interface KeyNameProps {
  readonly id: string;
  /** Undefined until the names are known. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

/** The name of an API key; its id if it has none, or no longer exists. */
export function KeyName({ id, names }: KeyNameProps) {
  const name = names?.get(id);
  return (
    <bdi title={id} className={name === undefined ? 'font-mono text-[0.85em]' : undefined}>
      {name ?? id}
    </bdi>
  );
}
