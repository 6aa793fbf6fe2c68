/** A process of its own that posts to an address and prints what became of it. */
import { post } from '../../../../src/upstreams/transport/http1/post.ts';

const [url = ''] = process.argv.slice(2);
const said = await post(url, {}, '{}')
  .answer.then((answer) => answer.text())
  .catch((error: { code?: string }) => `refused: ${error.code}`);
console.log(said);
process.exit(0);
