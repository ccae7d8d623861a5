"""The protocol's official Python client against the server, over HTTP and over standard input and output, in the
protocol of 2026-07-28 and in the former one. Prints a line for each."""

import asyncio
import os
import sys

import httpx2
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

URL, TOKEN, BUILD, WORD, NODE = (os.environ[f"FAULTLINE_ATTACK_{name}"] for name in ("URL", "TOKEN", "BUILD", "WORD", "NODE"))


async def attack(name, server, mode):
    findings = []

    def expect(what, holds):
        if not holds:
            findings.append(f"{name}: {what}")

    async with Client(server, mode=mode) as client:
        expect("the protocol is that which was asked for", (client.protocol_version == "2026-07-28") == (mode != "legacy"))
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        expect("every tool has an output schema", all(tool.output_schema for tool in tools.values()))
        calls = {
            "list_failures": {},
            "get_failure": {"id": BUILD},
            "get_evidence": {"id": BUILD},
            "search_similar": {"text": WORD},
            "flaky_tests": {},
            "explain_log": {"log": "Error: boom"},
        }
        expect("the tools are those that are tried", set(tools) == set(calls))
        for tool, arguments in calls.items():
            # The client checks what comes back against the schema.
            answer = await client.call_tool(tool, arguments)
            expect(f"{tool} answers, as data too", not answer.is_error and answer.structured_content)
            if tool == "search_similar":
                expect(f"the one word {WORD} finds something", answer.structured_content["failures"])
        for resource in (await client.list_resources()).resources:
            expect(f"{resource.uri} can be read", (await client.read_resource(str(resource.uri))).contents[0].text)
        expect("there are templates", len((await client.list_resource_templates()).resource_templates) == 3)
        for prompt in (await client.list_prompts()).prompts:
            given = {argument.name: "shop/api" for argument in prompt.arguments or [] if argument.required}
            expect(f"the prompt {prompt.name} has a text", (await client.get_prompt(prompt.name, given)).messages[0].content.text)
        for what, call, code in (
            ("a resource that is not there", lambda: client.read_resource("faultline://analyses/none"), -32602),
            ("a prompt that is not there", lambda: client.get_prompt("none", {}), -32602),
        ):
            try:
                await call()
                expect(f"{what} is refused", False)
            except MCPError as error:
                expect(f"{what} is refused with {code}, not {error.error.code}", error.error.code == code)
    print(f"{name}: {len(tools)} tools, {len(findings)} findings")
    return findings


async def main():
    findings = []
    for mode in ("auto", "legacy"):
        http = streamable_http_client(f"{URL}/mcp", http_client=httpx2.AsyncClient(headers={"authorization": f"Bearer {TOKEN}"}))
        stdio = StdioServerParameters(command=NODE, args=["src/cli/main.ts", "mcp", "--url", URL, "--token", TOKEN])
        for name, server in (("HTTP", http), ("standard input and output", stdio)):
            protocol = "former protocol" if mode == "legacy" else "2026-07-28"
            findings += await attack(f"{name}, {protocol}", server, mode)
    print("\n".join(findings))
    sys.exit(1 if findings else 0)


asyncio.run(main())
