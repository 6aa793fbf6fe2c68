declare module 's3rver' {
  /** The members that the tests use; the package has no types. */
  class S3rver {
    constructor(options: {
      port: number;
      address: string;
      directory: string;
      silent: boolean;
      configureBuckets: { name: string; configs: string[] }[];
    });
    run(): Promise<unknown>;
    close(): Promise<void>;
  }

  // biome-ignore lint/style/noDefaultExport: the package has a default export.
  export { S3rver as default };
}
