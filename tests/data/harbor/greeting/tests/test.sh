#!/bin/bash
if [ "$(cat hello.txt)" = hello ]; then echo 1 >/logs/verifier/reward.txt; else echo 0 >/logs/verifier/reward.txt; fi
