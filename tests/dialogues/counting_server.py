"""A small MCP server: it adds numbers up, logs to standard output, and asks its client things."""

import json
import sys

SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
PAGES = {
    None: ([{"name": "add", "description": "Add a number.", "inputSchema": SCHEMA},
            {"name": "total", "inputSchema": {"type": "object"}}], "2"),
    "2": ([{"name": "fail"}, {"name": "picture"}, {"name": "nonsense"}, {"no": "name"}], None),
}  # fmt: skip


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


total = 0
begun = False
for line in sys.stdin:
    request = json.loads(line)
    method, params = request.get("method"), request.get("params", {})
    if method is None:
        continue
    if method == "initialize":
        sys.stdout.write("starting up\n")
        send(id=request["id"], result={"protocolVersion": params["protocolVersion"],
             "capabilities": {"tools": {}}, "serverInfo": {"name": "counting", "version": "1"}})  # fmt: skip
    elif method == "notifications/initialized":
        begun = True
    elif method == "tools/list":
        assert begun
        send(id="p", method="ping")
        send(id="r", method="roots/list")
        assert json.loads(sys.stdin.readline())["result"] == {}
        assert json.loads(sys.stdin.readline())["error"]["code"] == -32601
        tools, after = PAGES[params.get("cursor")]
        send(id=request["id"], result={"tools": tools, **({"nextCursor": after} if after else {})})
    elif method == "tools/call":
        send(method="notifications/message", params={"level": "info", "data": "called"})
        name = params["name"]
        if name == "add":
            total += params["arguments"]["n"]
            send(id=request["id"], result=text(str(total)))
        elif name == "total":
            send(id=request["id"], result=text("total: " + str(total)))
        elif name == "fail":
            send(id=request["id"], result=text("it failed", isError=True))
        elif name == "picture":
            send(id=request["id"], result={"content": [{"type": "image", "data": "", "mimeType": "x"},
                 {"type": "resource", "resource": {"uri": "x:", "text": '{"n": 1}'}}]})  # fmt: skip
        else:
            send(id=request["id"], error={"code": -32602, "message": "no such tool"})
