import { useEffect, useRef, useState } from 'react';

interface SearchBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
  readonly className?: string;
}

/** A text that filters a list, and that the address keeps. `/` focuses it. */
export function SearchBox({ label, placeholder, value = '', onChange, className }: SearchBoxProps) {
  // The address follows the keys with a delay, so what is typed wins while the box has the focus.
  const [typed, type] = useState(value);
  const element = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== element.current) type(value);
  }, [value]);
  return (
    <input
      ref={element}
      type="search"
      aria-label={label}
      placeholder={placeholder}
      className={`control ${className ?? ''}`}
      data-search
      value={typed}
      onChange={({ target }) => {
        type(target.value);
        onChange(target.value || undefined);
      }}
    />
  );
}
