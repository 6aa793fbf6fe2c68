/** A process that posts to a URL and prints the body of the response, or the error's code. */
import { post } from '../../../../src/upstreams/transport/http1/post.ts';

const [url = ''] = process.argv.slice(2);
const result = await post(url, {}, '{}')
  .response.then((response) => response.text())
  .catch((error: { code?: string }) => `refused: ${error.code}`);
console.log(result);
process.exit(0);
