# Asks the kernel to kill others rather than itself.
for score in ("-1000", "-500", "-1"):
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write(score)
        print("ESCAPED", score)
    except OSError as error:
        print("refused", error)
