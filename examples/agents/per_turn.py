"""An agent that is run once for each turn: "exec:python per_turn.py"."""

import json
import sys

from calculator import answer

asked = json.load(sys.stdin)
json.dump(answer(asked["message"], asked["history"], "."), sys.stdout)
