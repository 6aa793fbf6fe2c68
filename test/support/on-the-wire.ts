/** A declared type as JSON has it: an enum is one of its texts. */
export type OnTheWire<T> = T extends string
  ? `${T}`
  : T extends object
    ? { [Name in keyof T]: OnTheWire<T[Name]> }
    : T;
