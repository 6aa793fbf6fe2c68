"""openai-agents and pydantic-ai against a Weir: python agent_frameworks.py BASE KEY MODEL."""

import asyncio
import json
import sys

from agents import Agent as OpenaiAgent
from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

base, key, model = sys.argv[1:]
found = {}


# Both packages send strict tools to every model of OpenAI's interface, by default.
@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return "Rain"


class Person(BaseModel):
    name: str
    age: int


async def main():
    client = AsyncOpenAI(base_url=f"{base}/v1", api_key=key, max_retries=0)
    for name, kind in (("chat", OpenAIChatCompletionsModel), ("responses", OpenAIResponsesModel)):
        agent = OpenaiAgent(name="a", model=kind(model=model, openai_client=client), tools=[weather])
        result = await Runner.run(agent, "The weather?")
        found[f"openai-agents {name}"] = "Rain" in result.final_output
        streamed = Runner.run_streamed(agent, "The weather?")
        events = [event.type async for event in streamed.stream_events()]
        found[f"openai-agents {name} stream"] = "Rain" in streamed.final_output and len(events) > 3
    models = {
        "openai": OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client)),
        "anthropic": AnthropicModel(model, provider=AnthropicProvider(base_url=base, api_key=key)),
    }
    for name, each in models.items():
        agent = Agent(each, retries=0)

        @agent.tool_plain
        def weather_of(city: str) -> str:
            return "Rain"

        result = await agent.run("The weather?")
        found[f"pydantic-ai {name}"] = "Rain" in result.output
        async with agent.run_stream("The weather?") as stream:
            found[f"pydantic-ai {name} stream"] = "Rain" in await stream.get_output()
        person = await Agent(each, output_type=Person, retries=0).run("Someone")
        found[f"pydantic-ai {name} object"] = isinstance(person.output.age, int)


asyncio.run(main())
print(json.dumps(found))
