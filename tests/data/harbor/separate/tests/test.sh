#!/bin/bash
if [ "$(cat report.txt)" = done ] && [ ! -e notes.txt ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
