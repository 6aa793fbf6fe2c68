"""The Python packages of OpenAI, Anthropic and Google against a Weir: python vendors.py BASE KEY MODEL."""

import asyncio
import json
import sys

import anthropic
import openai
from google import genai
from google.genai import errors, types

base, key, model = sys.argv[1:]
PROMPT = "Hello [[sim tokens=12]]"
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
found = {}


def check(name, value):
    found[name] = value


def with_openai():
    client = openai.OpenAI(base_url=f"{base}/v1", api_key=key, max_retries=0)
    messages = [{"role": "user", "content": PROMPT}]
    whole = client.chat.completions.create(model=model, messages=messages)
    text = whole.choices[0].message.content
    check("openai chat", [whole.model, whole.usage.completion_tokens])
    stream = client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    streamed = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    check("openai stream", [streamed == text, chunks[-1].usage.completion_tokens])
    answer = client.responses.create(model=model, input=PROMPT)
    check("openai responses", [answer.output_text == text, answer.usage.output_tokens])
    tools = [{"type": "function", "function": {"name": "weather", "parameters": WEATHER}}]
    messages = [{"role": "user", "content": "The weather?"}]
    asked = client.chat.completions.create(model=model, messages=messages, tools=tools)
    calls = asked.choices[0].message.tool_calls
    messages.append(asked.choices[0].message)
    for call in calls:
        json.loads(call.function.arguments)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "Rain"})
    last = client.chat.completions.create(model=model, messages=messages, tools=tools)
    check("openai tools", [len(calls), "Rain" in last.choices[0].message.content])
    vectors = client.embeddings.create(model="text-embedding-3-small", input=["a", "b"])
    check("openai embeddings", [len(each.embedding) for each in vectors.data])
    try:
        client.chat.completions.create(model="no-such-model", messages=messages)
    except openai.BadRequestError as error:
        check("openai error", [error.status_code, error.code, error.param])


async def with_openai_async():
    async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key=key, max_retries=0) as client:
        messages = [{"role": "user", "content": PROMPT}]
        async with client.chat.completions.stream(model=model, messages=messages) as stream:
            final = await stream.get_final_completion()
        check("openai async", [final.choices[0].finish_reason])


def with_anthropic():
    client = anthropic.Anthropic(base_url=base, api_key=key, max_retries=0)
    common = {"model": model, "max_tokens": 200}
    messages = [{"role": "user", "content": PROMPT}]
    whole = client.messages.create(messages=messages, **common)
    check("anthropic message", [whole.model, whole.usage.output_tokens])
    with client.messages.stream(messages=messages, **common) as stream:
        text = "".join(stream.text_stream)
        check("anthropic stream", [text == whole.content[0].text, stream.get_final_message().stop_reason])
    tools = [{"name": "weather", "input_schema": WEATHER}]
    messages = [{"role": "user", "content": "The weather?"}]
    asked = client.messages.create(messages=messages, tools=tools, **common)
    calls = [block for block in asked.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": c.id, "content": "Rain"} for c in calls]
    messages += [
        {"role": "assistant", "content": asked.content},
        {"role": "user", "content": results},
    ]
    last = client.messages.create(messages=messages, tools=tools, **common)
    check("anthropic tools", [asked.stop_reason, len(calls), "Rain" in last.content[-1].text])
    counted = client.messages.count_tokens(model=model, messages=messages[:1])
    check("anthropic count", [counted.input_tokens > 0])
    try:
        client.messages.create(model="no-such-model", max_tokens=9, messages=messages[:1])
    except anthropic.APIStatusError as error:
        check("anthropic error", [error.status_code, error.body["error"]["type"]])


def weather(city: str = "here") -> str:
    """The weather of a city."""
    return "Rain"


def with_google():
    options = types.HttpOptions(base_url=base)
    client = genai.Client(api_key=key, vertexai=False, http_options=options)
    whole = client.models.generate_content(model=model, contents=PROMPT)
    check("google content", [whole.usage_metadata.candidates_token_count])
    pieces = client.models.generate_content_stream(model=model, contents=PROMPT)
    check("google stream", ["".join(each.text or "" for each in pieces) == whole.text])
    config = types.GenerateContentConfig(tools=[weather])
    last = client.models.generate_content(model=model, contents="The weather?", config=config)
    check("google tools", ["Rain" in last.text])
    chat = client.chats.create(model=model)
    first = chat.send_message(PROMPT)
    second = chat.send_message(PROMPT)
    check("google chat", [bool(first.text), bool(second.text)])
    words = ["Red", "Green"]
    config = types.GenerateContentConfig(
        response_mime_type="text/x.enum", response_schema={"type": "STRING", "enum": words}
    )
    word = client.models.generate_content(model=model, contents="A colour?", config=config)
    check("google word", [word.text in words])
    # The package sends these bytes in the URL-safe alphabet.
    picture = types.Part.from_bytes(data=b"\xfb\xef\xff" * 5, mime_type="image/png")
    seen = client.models.generate_content(model=model, contents=[picture, PROMPT])
    check("google picture", [seen.usage_metadata.candidates_token_count])
    with_google_media(client)
    try:
        client.models.generate_content(model="no-such-model", contents="Hello")
    except errors.ClientError as error:
        check("google error", [error.code, error.status])


def with_google_media(client):
    config = types.GenerateContentConfig(
        response_modalities=["IMAGE"], image_config=types.ImageConfig(aspect_ratio="16:9")
    )
    made = client.models.generate_content(
        model="gemini-2.5-flash-image", contents="A lighthouse", config=config
    )
    picture = made.candidates[0].content.parts[0].inline_data
    check("google image", [picture.mime_type, picture.data[1:4] == b"PNG"])
    config = types.GenerateContentConfig(response_modalities=["AUDIO"], speech_config="Kore")
    request = {"model": "gemini-2.5-flash-preview-tts", "contents": "Hello", "config": config}
    whole = client.models.generate_content(**request)
    sound = whole.candidates[0].content.parts[0].inline_data.data
    chunks = list(client.models.generate_content_stream(**request))
    parts = [part for each in chunks for part in each.candidates[0].content.parts]
    streamed = b"".join(part.inline_data.data for part in parts if part.inline_data)
    check("google speech", [len(sound) > 0, streamed == sound, bool(chunks[-1].usage_metadata)])


with_openai()
asyncio.run(with_openai_async())
with_anthropic()
with_google()
print(json.dumps(found))
