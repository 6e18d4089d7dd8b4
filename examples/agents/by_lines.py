"""An agent that runs as long as a session: "exec:python by_lines.py" with lines: true."""

import json
import sys

from calculator import answer

for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(answer(asked["message"], asked["history"], ".")), flush=True)
