"""A loop that scores by HTTP: start `proctor serve tasks.yaml`, then run this.

python by_http.py http://127.0.0.1:7463
"""

import json
import sys
import urllib.request


def score(address: str, outputs: list[dict[str, str | None]]) -> list[float | None]:
    """Send outputs, and return what each is worth; none where it could not be scored."""
    request = urllib.request.Request(
        address,
        data=json.dumps({"outputs": outputs}).encode(),
        headers={"Content-Type": "application/json"},
    )
    values: list[float | None] = [None] * len(outputs)
    with urllib.request.urlopen(request) as response:
        for line in response:  # each result comes when it is there
            result = json.loads(line)
            values[result["index"]] = result["value"]
    return values


if __name__ == "__main__":
    OUTPUTS: list[dict[str, str | None]] = [
        {"case": "capital", "output": "Paris"},
        {"case": "double", "output": "def double(x):\n    return 2 * x\n"},
        {"case": "product", "output": "41"},
    ]
    print(score(sys.argv[1], OUTPUTS))
