declare module '*.svg' {
  const address: string;
  export default address;
}
declare module '*.css';
declare module '*.woff2' {
  const address: string;
  export default address;
}
declare module 'weir:docs' {
  /** The pages of documentation. */
  export const DOCS: readonly import('./build-docs.ts').DocPage[];
}
