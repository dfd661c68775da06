"""An MCP server with one tool, which asks the outside as well."""

import os
import urllib.request

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # mcp 1 has it under another name
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("weather")


@server.tool()
def forecast(what: str) -> str:
    """The weather somewhere."""
    with urllib.request.urlopen(f"{os.environ['OUTSIDE']}/forecast-{what}") as page:
        return str(page.read().decode())


with urllib.request.urlopen(f"{os.environ['OUTSIDE']}/mcp-started"):
    server.run()
