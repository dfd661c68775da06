"""An MCP server with one tool, which asks the outside as well."""

import os
import urllib.request

try:
    from mcp.server.mcpserver import MCPServer  # type: ignore[import-not-found]
except ImportError:  # mcp 1 has it under another name
    from mcp.server.fastmcp import FastMCP as MCPServer  # type: ignore[import-not-found]

server = MCPServer("weather")


@server.tool()  # type: ignore[untyped-decorator]
def forecast(what: str) -> str:
    """The weather somewhere."""
    with urllib.request.urlopen(f"{os.environ['OUTSIDE']}/forecast-{what}") as page:  # noqa: S310
        return str(page.read().decode())


with urllib.request.urlopen(f"{os.environ['OUTSIDE']}/mcp-started"):  # noqa: S310
    server.run()
