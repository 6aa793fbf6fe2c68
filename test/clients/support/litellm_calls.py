"""LiteLLM against a Weir, as OpenAI and as Anthropic: python litellm_calls.py BASE KEY MODEL."""

import json
import sys

import litellm

base, key, model = sys.argv[1:]
found = {}
PROMPT = [{"role": "user", "content": "Hello [[sim tokens=12]]"}]
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}]

for vendor, address in (("openai", f"{base}/v1"), ("anthropic", base)):
    common = {"model": f"{vendor}/{model}", "api_base": address, "api_key": key, "num_retries": 0}
    whole = litellm.completion(messages=PROMPT, **common)
    found[f"{vendor} chat"] = whole.usage.completion_tokens
    chunks = list(litellm.completion(messages=PROMPT, stream=True, **common))
    text = "".join(each.choices[0].delta.content or "" for each in chunks)
    found[f"{vendor} stream"] = text == whole.choices[0].message.content
    messages = [{"role": "user", "content": "The weather?"}]
    asked = litellm.completion(messages=messages, tools=TOOLS, **common)
    message = asked.choices[0].message
    messages.append(message.model_dump())
    for call in message.tool_calls:
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "Rain"})
    last = litellm.completion(messages=messages, tools=TOOLS, **common)
    found[f"{vendor} tools"] = "Rain" in last.choices[0].message.content
    try:
        litellm.completion(messages=PROMPT, **{**common, "model": f"{vendor}/no-such-model"})
    except litellm.exceptions.BadRequestError as error:
        found[f"{vendor} error"] = error.status_code

vectors = litellm.embedding(
    model="openai/text-embedding-3-small", input=["a"], api_base=f"{base}/v1", api_key=key
)
found["embeddings"] = len(vectors.data[0]["embedding"])
print(json.dumps(found))
