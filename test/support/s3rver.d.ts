declare module 's3rver' {
  /** What is used of it; the package has no types. */
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

  // biome-ignore lint/style/noDefaultExport: it is what the package has.
  export { S3rver as default };
}
